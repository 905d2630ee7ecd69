// wasm_engine.cc: the engine of plumb.wasm: kernels of the variant wasm128 in linear memory.
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "backends/cpu/engine.h"
#include "module_path.h"
#include "plumb/sdk/abi.h"
#include "runtime.h"

namespace plumbline::wasm {
namespace {

using cpu::Memory;

constexpr uint64_t kStackBytes = uint64_t{256} << 10;  // the lowest page of it is the guard
constexpr uint64_t kArgsBytes = 4096;
constexpr const char* kVariant = "wasm128";

const char* missing_feature() {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(module_path(), ignored)) {
    return "file plumb.wasm.kernels.wasm beside the plugin";
  }
#if defined(__x86_64__)
  // wasmtime compiles SIMD for nothing older.
  if (!__builtin_cpu_supports("sse4.1")) return "SSE4.1";
#endif
  return nullptr;
}

/// An instance with a stack and a place for arguments of its own.
class WasmWorker final : public cpu::EngineWorker {
 public:
  WasmWorker(std::unique_ptr<Instance> instance, Memory memory)
      : memory_(std::move(memory)), instance_(std::move(instance)) {}

  Instance& instance() { return *instance_; }
  uint8_t* args() const { return memory_.data() + kStackBytes; }

 private:
  Memory memory_;
  std::unique_ptr<Instance> instance_;
};

class WasmEngine final : public cpu::Engine {
 public:
  explicit WasmEngine(std::unique_ptr<Runtime> runtime) : runtime_(std::move(runtime)) {}

  std::optional<Memory> allocate(uint64_t bytes) override { return memory().allocate(bytes); }
  std::optional<Memory> allocate_shared(uint64_t bytes) override {
    return memory().allocate_shared(bytes);
  }
  std::optional<Memory> import_fd(int32_t fd, uint64_t offset, uint64_t bytes) override {
    return memory().map_file(fd, offset, bytes);
  }
  const char* name_of_memory() const override { return "the linear memory of 4 GiB"; }

  std::unique_ptr<cpu::EngineWorker> create_worker(plumb_error* error) override {
    auto made = make_worker();
    if (made) return *std::move(made);
    fail(error, made.error());
    return nullptr;
  }

  plumb_status call(cpu::EngineWorker& worker, const cpu::KernelCall& kernel_call,
                    cpu::Outcome* outcome, plumb_error* error) override {
    auto& own = static_cast<WasmWorker&>(worker);
    if (!copy_args(kernel_call, own.args())) {
      return fail(error, PLUMB_INTERNAL, "an argument lies outside the linear memory");
    }
    const uint32_t args = *memory().offset_of(reinterpret_cast<uintptr_t>(own.args()));
    const auto answer = own.instance().call(static_cast<uint32_t>(kernel_call.kernel), args,
                                            kernel_call.items.begin, kernel_call.items.end);
    if (!answer) return fail(error, answer.error());
    *outcome = static_cast<cpu::Outcome>(*answer);
    if (*outcome <= cpu::Outcome::kNothingVisible) return PLUMB_OK;
    return failf(error, PLUMB_INTERNAL, "the WebAssembly kernel answered %u, which it cannot",
                 *answer);
  }

 private:
  LinearMemory& memory() { return runtime_->memory(); }

  Result<std::unique_ptr<cpu::EngineWorker>> make_worker() {
    PLUMB_ASSIGN(std::unique_ptr<Instance> instance, runtime_->instantiate());
    auto place = memory().allocate_guarded(kStackBytes + kArgsBytes);
    if (!place) return Error{PLUMB_INTERNAL, "worker: no room for its stack in linear memory"};
    const auto stack = memory().offset_of(reinterpret_cast<uintptr_t>(place->data()));
    PLUMB_TRY(instance->set_stack(*stack + static_cast<uint32_t>(kStackBytes)));
    return std::unique_ptr<cpu::EngineWorker>(
        std::make_unique<WasmWorker>(std::move(instance), *std::move(place)));
  }

  /// The arguments with addresses as the module sees them. False if one is none.
  bool copy_args(const cpu::KernelCall& kernel_call, uint8_t* to) {
    if (kernel_call.args_bytes > kArgsBytes) return false;
    std::memcpy(to, kernel_call.args, kernel_call.args_bytes);
    for (uint32_t i = 0; i < kernel_call.n_refs; ++i) {
      uint64_t address;
      std::memcpy(&address, to + i * sizeof address, sizeof address);
      if (address == 0) continue;
      const auto offset = memory().offset_of(address);
      if (!offset) return false;
      address = *offset;
      std::memcpy(to + i * sizeof address, &address, sizeof address);
    }
    return true;
  }

  std::unique_ptr<Runtime> runtime_;
};

}  // namespace
}  // namespace plumbline::wasm

namespace plumbline::cpu {

std::unique_ptr<Engine> create_engine(plumb_str wanted, plumb_status* status, plumb_error* error) {
  const std::string_view name = to_view(wanted);
  if (!name.empty() && name != wasm::kVariant) {
    *status =
        failf(error, PLUMB_INVALID_CONFIG, "variant %.*s: unknown; this library has %s",
              static_cast<int>(name.size() < 64 ? name.size() : 64), name.data(), wasm::kVariant);
    return nullptr;
  }
  auto runtime = wasm::Runtime::create(wasm::module_path());
  if (runtime) return std::make_unique<wasm::WasmEngine>(*std::move(runtime));
  *status = fail(error, runtime.error());
  return nullptr;
}

const EngineVariant* engine_variant(uint32_t index) {
  // More than plain loops, less than the processor's own instructions.
  static constexpr EngineVariant kOnly{wasm::kVariant, wasm::missing_feature, 100, nullptr};
  return index == 0 ? &kOnly : nullptr;
}

}  // namespace plumbline::cpu
