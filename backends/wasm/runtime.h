// runtime.h: the module inside wasmtime: compiled once, instantiated for each thread.
#pragma once

#include <wasmtime.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "linear_memory.h"
#include "plumb/sdk/result.h"

namespace plumbline::wasm {

/// Owns what a C function deletes.
template <auto kDelete>
struct Deleter {
  template <typename T>
  void operator()(T* object) const {
    kDelete(object);
  }
};
template <typename T, auto kDelete>
using Handle = std::unique_ptr<T, Deleter<kDelete>>;

/// The module's code and memory for one thread. [one-at-a-time]
class Instance {
 public:
  /// memory: what the module imports.
  /// Fails INCOMPATIBLE (not the module of this build), INTERNAL.
  static Result<std::unique_ptr<Instance>> create(wasm_engine_t* engine,
                                                  const wasmtime_module_t* module,
                                                  wasmtime_sharedmemory_t* memory);

  /// Where the module's own data ends.
  uint32_t heap_base() const { return heap_base_; }
  /// The address behind the stack, which grows down.
  Result<void> set_stack(uint32_t top);
  /// Runs a kernel with arguments at an address of the module. Fails INTERNAL if it traps; the
  /// instance can go on.
  Result<uint32_t> call(uint32_t kernel, uint32_t args, uint64_t begin, uint64_t end);

 private:
  Instance() = default;
  Result<wasmtime_extern_t> find(const wasmtime_instance_t& instance, std::string_view name,
                                 wasmtime_extern_kind_t kind) const;
  /// With the types of everything checked.
  Result<uint32_t> call_checked(const wasmtime_func_t& function,
                                const std::vector<wasmtime_val_t>& arguments) const;

  Handle<wasmtime_store_t, wasmtime_store_delete> store_;
  wasmtime_context_t* context_ = nullptr;
  wasmtime_func_t call_{};
  wasmtime_global_t stack_pointer_{};
  uint32_t stack_top_ = 0;
  uint32_t heap_base_ = 0;
};

/// An engine, the compiled module, and the memory that all instances share. [any-thread]
class Runtime {
 public:
  /// Fails NOT_FOUND (no such file), CORRUPT (no valid module), and as Instance::create does.
  static Result<std::unique_ptr<Runtime>> create(const std::string& module_path);

  LinearMemory& memory() { return *memory_; }
  Result<std::unique_ptr<Instance>> instantiate() const;

 private:
  Runtime() = default;

  Handle<wasm_engine_t, wasm_engine_delete> engine_;
  Handle<wasmtime_module_t, wasmtime_module_delete> module_;
  Handle<wasmtime_sharedmemory_t, wasmtime_sharedmemory_delete> shared_;
  std::unique_ptr<LinearMemory> memory_;
};

}  // namespace plumbline::wasm
