#include "runtime.h"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "module_layout.h"

namespace plumbline::wasm {
namespace {

constexpr uint64_t kModuleBytesMax = uint64_t{64} << 20;
/// What the memory has before it grows: more than the module's own data.
constexpr uint64_t kFirstPages = 16;

/// A text of wasmtime on one line, without the frames of a trace.
std::string first_line(wasm_byte_vec_t& message) {
  std::string_view text(message.data, message.size);
  text = text.substr(0, text.find('\0'));
  constexpr std::string_view kTrace = "error while executing at wasm backtrace:";
  if (text.starts_with(kTrace)) {  // the cause stands at the end
    const size_t cause = text.rfind(": ");
    if (cause > kTrace.size()) text.remove_prefix(cause + 2);
  }
  std::string line(text.substr(0, text.find('\n')));
  wasm_byte_vec_delete(&message);
  return line;
}

std::string text_of(wasmtime_error_t* error) {
  wasm_byte_vec_t message;
  wasmtime_error_message(error, &message);
  wasmtime_error_delete(error);
  return first_line(message);
}

std::string text_of(wasm_trap_t* trap) {
  wasm_byte_vec_t message;
  wasm_trap_message(trap, &message);
  wasm_trap_delete(trap);
  return first_line(message);
}

Result<std::vector<uint8_t>> read_file(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    return Error{PLUMB_CORRUPT, path + ": no regular file"};  // a pipe would be waited for
  }
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff bytes = file.tellg();
  if (!file || bytes < 0) return Error{PLUMB_NOT_FOUND, path + ": cannot be read"};
  if (static_cast<uint64_t>(bytes) > kModuleBytesMax) {
    return Error{PLUMB_CORRUPT,
                 path + ": " + std::to_string(bytes) + " bytes are no module of ours"};
  }
  std::vector<uint8_t> data(static_cast<size_t>(bytes));
  file.seekg(0);
  if (!file.read(reinterpret_cast<char*>(data.data()), bytes)) {
    return Error{PLUMB_NOT_FOUND, path + ": cannot be read"};
  }
  return data;
}

wasmtime_val_t number(uint32_t value) {
  wasmtime_val_t wrapped{};
  wrapped.kind = WASMTIME_I32;
  wrapped.of.i32 = static_cast<int32_t>(value);
  return wrapped;
}
wasmtime_val_t wide(int64_t value) {
  wasmtime_val_t wrapped{};
  wrapped.kind = WASMTIME_I64;
  wrapped.of.i64 = value;
  return wrapped;
}

}  // namespace

Result<wasmtime_extern_t> Instance::find(const wasmtime_instance_t& instance, std::string_view name,
                                         wasmtime_extern_kind_t kind) const {
  wasmtime_extern_t found{};
  if (!wasmtime_instance_export_get(context_, &instance, name.data(), name.size(), &found)) {
    return Error{PLUMB_INCOMPATIBLE, "it exports no " + std::string(name)};
  }
  if (found.kind == kind) return found;
  wasmtime_extern_delete(&found);
  return Error{PLUMB_INCOMPATIBLE, "its export " + std::string(name) + " is of another kind"};
}

Result<uint32_t> Instance::call_checked(const wasmtime_func_t& function,
                                        const std::vector<wasmtime_val_t>& arguments) const {
  wasmtime_val_t answer{};
  wasm_trap_t* trap = nullptr;
  if (wasmtime_error_t* error = wasmtime_func_call(context_, &function, arguments.data(),
                                                   arguments.size(), &answer, 1, &trap)) {
    return Error{PLUMB_INCOMPATIBLE, text_of(error)};
  }
  if (trap != nullptr) return Error{PLUMB_INCOMPATIBLE, text_of(trap)};
  if (answer.kind == WASMTIME_I32) return static_cast<uint32_t>(answer.of.i32);
  wasmtime_val_unroot(&answer);
  return Error{PLUMB_INCOMPATIBLE, "its result is no i32"};
}

Result<std::unique_ptr<Instance>> Instance::create(wasm_engine_t* engine,
                                                   const wasmtime_module_t* module,
                                                   wasmtime_sharedmemory_t* memory) {
  std::unique_ptr<Instance> made(new Instance());
  made->store_.reset(wasmtime_store_new(engine, nullptr, nullptr));
  made->context_ = wasmtime_store_context(made->store_.get());
  wasmtime_extern_t import{};
  import.kind = WASMTIME_EXTERN_SHAREDMEMORY;
  import.of.sharedmemory = memory;
  wasmtime_instance_t instance{};
  wasm_trap_t* trap = nullptr;
  if (wasmtime_error_t* error =
          wasmtime_instance_new(made->context_, module, &import, 1, &instance, &trap)) {
    return Error{PLUMB_INCOMPATIBLE, text_of(error)};
  }
  if (trap != nullptr) return Error{PLUMB_INCOMPATIBLE, "its start function: " + text_of(trap)};

  PLUMB_ASSIGN(const wasmtime_extern_t layout,
               made->find(instance, "layout", WASMTIME_EXTERN_FUNC));
  auto seen = made->call_checked(layout.of.func, {});
  if (!seen) return std::move(seen).error().at("its function layout");
  if (*seen != kArgsLayout) {
    return Error{PLUMB_INCOMPATIBLE, "its kernels are of another build than this plugin"};
  }
  PLUMB_ASSIGN(const wasmtime_extern_t call, made->find(instance, "call", WASMTIME_EXTERN_FUNC));
  made->call_ = call.of.func;
  // A kernel that there is not: this call only shows that later ones need no check of their types.
  seen = made->call_checked(made->call_, {number(UINT32_MAX), number(0), wide(0), wide(0)});
  if (!seen) return std::move(seen).error().at("its function call");

  PLUMB_ASSIGN(const wasmtime_extern_t stack,
               made->find(instance, "__stack_pointer", WASMTIME_EXTERN_GLOBAL));
  made->stack_pointer_ = stack.of.global;
  PLUMB_ASSIGN(const wasmtime_extern_t heap,
               made->find(instance, "__heap_base", WASMTIME_EXTERN_GLOBAL));
  wasmtime_val_t heap_base{};
  wasmtime_global_get(made->context_, &heap.of.global, &heap_base);
  made->heap_base_ = static_cast<uint32_t>(heap_base.of.i32);
  if (heap_base.kind != WASMTIME_I32 || made->heap_base_ > kFirstPages * LinearMemory::kPageBytes) {
    return Error{PLUMB_INCOMPATIBLE, "its __heap_base is no address inside its memory"};
  }
  return made;
}

Result<void> Instance::set_stack(uint32_t top) {
  stack_top_ = top;
  const wasmtime_val_t value = number(top);
  if (wasmtime_error_t* error = wasmtime_global_set(context_, &stack_pointer_, &value)) {
    return Error{PLUMB_INCOMPATIBLE, "its __stack_pointer: " + text_of(error)};
  }
  return {};
}

Result<uint32_t> Instance::call(uint32_t kernel, uint32_t args, uint64_t begin, uint64_t end) {
  wasmtime_val_raw_t values[4];
  values[0].i32 = static_cast<int32_t>(kernel);
  values[1].i32 = static_cast<int32_t>(args);
  values[2].i64 = static_cast<int64_t>(begin);
  values[3].i64 = static_cast<int64_t>(end);
  wasm_trap_t* trap = nullptr;
  if (wasmtime_error_t* error = wasmtime_func_call_unchecked(context_, &call_, values, 4, &trap)) {
    return Error{PLUMB_INTERNAL, text_of(error)};
  }
  if (trap == nullptr) return static_cast<uint32_t>(values[0].i32);
  const std::string what = text_of(trap);
  PLUMB_TRY(set_stack(stack_top_));  // what the trap left behind
  return Error{PLUMB_INTERNAL, "the WebAssembly kernel trapped: " + what};
}

Result<std::unique_ptr<Runtime>> Runtime::create(const std::string& module_path) {
  PLUMB_ASSIGN(const std::vector<uint8_t> bytes, read_file(module_path));
  std::unique_ptr<Runtime> made(new Runtime());
  wasm_config_t* config = wasm_config_new();
  wasmtime_config_wasm_threads_set(config, true);
  wasmtime_config_shared_memory_set(config, true);
  made->engine_.reset(wasm_engine_new_with_config(config));
  if (made->engine_ == nullptr) return Error{PLUMB_INTERNAL, "wasmtime made no engine"};

  wasmtime_module_t* module = nullptr;
  if (wasmtime_error_t* error =
          wasmtime_module_new(made->engine_.get(), bytes.data(), bytes.size(), &module)) {
    return Error{PLUMB_CORRUPT, module_path + ": " + text_of(error)};
  }
  made->module_.reset(module);

  wasm_memorytype_t* type = nullptr;
  if (wasmtime_error_t* error = wasmtime_memorytype_new(kFirstPages, true, LinearMemory::kPagesMax,
                                                        false, true, 16, &type)) {
    return Error{PLUMB_INTERNAL, text_of(error)};
  }
  const Handle<wasm_memorytype_t, wasm_memorytype_delete> owned_type(type);
  wasmtime_sharedmemory_t* shared = nullptr;
  if (wasmtime_error_t* error = wasmtime_sharedmemory_new(made->engine_.get(), type, &shared)) {
    return Error{PLUMB_INTERNAL, text_of(error)};
  }
  made->shared_.reset(shared);

  auto first = made->instantiate();
  if (!first) return std::move(first).error().at(module_path);
  made->memory_ =
      std::make_unique<LinearMemory>(wasmtime_sharedmemory_clone(shared), (*first)->heap_base());
  return made;
}

Result<std::unique_ptr<Instance>> Runtime::instantiate() const {
  return Instance::create(engine_.get(), module_.get(), shared_.get());
}

}  // namespace plumbline::wasm
