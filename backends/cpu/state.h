// state.h: what an instance owns: buffers, prepared weights, KV caches, workers.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "engine.h"
#include "kernels/kernels.h"
#include "plumb/ext/kernels.h"
#include "plumb/sdk/kernels/handle_table.h"

namespace plumbline::cpu {

/// A prepared tensor. Its bytes lie in a buffer of the host, which may have been freed: resolve
/// before use.
struct Weight {
  const Layout* layout;  // null for vectors: f32, padded with zeros to whole panels
  uint32_t uses;
  uint64_t n_rows, n_columns;
  plumb_slice place;
  uint64_t bytes;
};

struct KvCache {
  Memory memory;
  KvView view;
  uint32_t capacity_rows;
  // Several parts of a kv_append set the same number.
  std::atomic<uint32_t> n_rows{0};
};

struct Worker {
  Memory scratch;
  std::unique_ptr<EngineWorker> engine;
};

struct State {
  std::unique_ptr<Engine> engine;  // outlives the memory that it gave
  HandleTable<Memory> buffers{1};
  HandleTable<Weight> weights{2};
  HandleTable<KvCache> caches{3};
  HandleTable<Worker> workers{4};
  uint32_t n_workers_max = 0;
  std::mutex plan_mutex;  // worker_create and plan both size scratch
  uint64_t scratch_bytes = 0;
  std::mutex host_mutex;  // guards host_worker
  std::unique_ptr<EngineWorker> host_worker;  // for calls that come without a worker
  std::mutex passage_mutex;
  std::optional<Memory> passage;  // that rows of caches take; as large as was needed so far
};

/// Runs a kernel on any of its Args.
template <typename Args>
plumb_status run_kernel(const State& state, EngineWorker& worker, const Args& args, Range items,
                        Outcome* outcome, plumb_error* error) {
  const KernelCall call{Args::kKernel, &args, sizeof args, Args::kRefs, items};
  return state.engine->call(worker, call, outcome, error);
}

/// The slice as memory, or null if [offset, offset + bytes) is not inside a live buffer.
inline uint8_t* resolve(const State& state, plumb_slice slice, uint64_t bytes) {
  const Memory* buffer = state.buffers.find(slice.buffer);
  if (buffer == nullptr || slice.offset_bytes > buffer->bytes() ||
      bytes > buffer->bytes() - slice.offset_bytes) {
    return nullptr;
  }
  return buffer->data() + slice.offset_bytes;
}

constexpr uint64_t round_up(uint64_t n, uint64_t step) {
  return (n + step - 1) / step * step;
}

// weights.cc
plumb_status prepare_bytes(const plumb_tensor* tensor, uint32_t uses, uint64_t* bytes,
                           plumb_error* error);
plumb_status prepare_begin(State& state, const plumb_tensor* tensor, uint32_t uses,
                           plumb_slice destination, plumb_handle* weight, plumb_error* error);
plumb_status prepare_rows(const State& state, plumb_handle weight, const plumb_tensor* tensor,
                          uint64_t first_row, uint64_t n_rows, plumb_error* error);
plumb_status prepare(State& state, const plumb_tensor* tensor, uint32_t uses,
                     plumb_slice destination, plumb_handle* weight, plumb_error* error);

// kv.cc
plumb_status kv_create(State& state, const plumb_kv_shape* shape, plumb_handle* kv,
                       plumb_error* error);
plumb_status kv_truncate(State& state, plumb_handle kv, uint32_t n_rows, plumb_error* error);
plumb_status kv_export(State& state, plumb_handle kv, uint32_t first, uint32_t n, float* k,
                       float* v, int32_t* positions, plumb_error* error);
plumb_status kv_import(State& state, plumb_handle kv, uint32_t first, uint32_t n, const float* k,
                       const float* v, const int32_t* positions, plumb_error* error);

// execute.cc
plumb_status supports(const plumb_op_query* query, plumb_error* error);
plumb_status plan(State& state, const plumb_op* ops, uint32_t n_ops, plumb_error* error);
plumb_status create_worker(State& state, plumb_handle* worker, plumb_error* error);
plumb_status execute(const State& state, const plumb_op* ops, uint32_t n_ops, plumb_handle worker,
                     uint32_t part, uint32_t n_parts, plumb_error* error);

}  // namespace plumbline::cpu
