// engine.h: what the host side of this backend runs its kernels on: native code (native_engine.cc),
// or, in backends/wasm, a WebAssembly engine. It owns the kind of memory that kernels can see and
// what each thread needs to run them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/memory.h"
#include "plumb/base.h"

namespace plumbline::cpu {

/// What one thread needs to run kernels.
class EngineWorker {
 public:
  virtual ~EngineWorker() = default;
};

/// Arguments of any kernel as bytes; the first n_refs words are addresses in this process.
struct KernelCall {
  Kernel kernel;
  const void* args;
  uint32_t args_bytes;
  uint32_t n_refs;
  Range items;
};

class Engine {
 public:
  virtual ~Engine() = default;

  /// 64-byte aligned; pages that were never written are zero. Nothing if there is no room.
  /// [any-thread]
  virtual std::optional<Memory> allocate(uint64_t bytes) = 0;
  /// Memory that another process can map, and memory over a file descriptor. Nothing if this engine
  /// has no such memory or the system refuses. [any-thread]
  virtual std::optional<Memory> allocate_shared(uint64_t bytes) = 0;
  virtual std::optional<Memory> import_fd(int32_t fd, uint64_t offset, uint64_t bytes) = 0;

  /// What has no room then, for messages.
  virtual const char* name_of_memory() const = 0;

  /// Null with the error filled in if it cannot be made.
  virtual std::unique_ptr<EngineWorker> create_worker(plumb_error* error) = 0;
  /// Fails INTERNAL if the kernel itself failed (a trap). [one-at-a-time for each worker]
  virtual plumb_status call(EngineWorker& worker, const KernelCall& kernel_call, Outcome* outcome,
                            plumb_error* error) = 0;
};

/// The engine of this library. `variant`: one of engine_variant's names, or empty for the best that
/// this machine can run. Null with the error filled in: INVALID_CONFIG (no such variant),
/// UNSUPPORTED (what this machine lacks).
std::unique_ptr<Engine> create_engine(plumb_str variant, plumb_status* status, plumb_error* error);

/// A variant of this library's kernels.
struct EngineVariant {
  const char* name;
  const char* (*missing)();  // what this machine lacks to run it, or null
  int32_t rank;
  CallFn call;  // null where the engine is not native
};

/// Best first; null behind the last.
const EngineVariant* engine_variant(uint32_t index);

}  // namespace plumbline::cpu
