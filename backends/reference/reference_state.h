// reference_state.h: what an instance of the reference backend owns: buffers, weights, KV caches,
// workers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "plumb/ext/kernels.h"
#include "plumb/sdk/kernels/handle_table.h"

namespace plumbline::reference {

inline constexpr uint64_t kBufferAlignment = 64;

struct Buffer {
  explicit Buffer(uint64_t n_bytes);  // throws std::bad_alloc

  struct Free {
    void operator()(std::byte* block) const;
  };
  std::unique_ptr<std::byte, Free> memory;
  uint64_t bytes;
};

/// A prepared tensor [n_rows, n_columns]. A matrix is read where the host mapped it, row by row
/// through dequantise_blocks; a vector is one row of f32 in the destination that the host gave.
struct Weight {
  plumb_format format;
  uint32_t uses;
  uint64_t n_rows;
  uint64_t n_columns;
  uint64_t row_bytes;
  const uint8_t* data;
};

/// Rows [0, n_rows) of keys and values, kept as f32: those of an f16 cache are rounded when they
/// come.
struct KvCache {
  explicit KvCache(const plumb_kv_shape& shape);  // throws std::bad_alloc

  uint64_t row_floats() const { return uint64_t{n_heads} * head_width; }
  /// Writes n rows of k and v, which may be null. Fails NUMERIC: a value is not finite in f16.
  plumb_status store(const float* k_rows, const float* v_rows, uint32_t first, uint64_t n,
                     plumb_error* error);

  uint32_t capacity_rows;
  uint32_t n_heads;  // K
  uint32_t head_width;  // C
  uint32_t n_rows = 0;
  bool is_f16;
  std::unique_ptr<float[]> k;  // f32[capacity_rows,K,C]
  std::unique_ptr<float[]> v;  // f32[capacity_rows,K,C]
  std::unique_ptr<int32_t[]> positions;  // i32[capacity_rows]
};

/// Scratch of one thread, sized by plan.
struct Worker {
  std::vector<float> floats;  // a weight row
  std::vector<double> doubles;  // attention scores, then one head's sum
};

struct State {
  HandleTable<Buffer> buffers{1};
  HandleTable<Weight> weights{2};
  HandleTable<KvCache> caches{3};
  HandleTable<Worker> workers{4};
  uint32_t n_workers_max = 0;
  uint64_t planned_floats = 0;
  uint64_t planned_doubles = 0;
};

/// [slice, slice + bytes) as host memory, or null if it leaves its buffer.
std::byte* resolve(const State& state, plumb_slice slice, uint64_t bytes);

/// The functions of the table that move data in and out; see plumb/ext/kernels.h.
plumb_status prepare_bytes(const plumb_tensor* tensor, uint32_t uses, uint64_t* bytes,
                           plumb_error* error);
plumb_status prepare(State& state, const plumb_tensor* tensor, uint32_t uses,
                     plumb_slice destination, plumb_handle* weight, plumb_error* error);
plumb_status kv_create(State& state, const plumb_kv_shape* shape, plumb_handle* kv,
                       plumb_error* error);
plumb_status kv_truncate(State& state, plumb_handle kv, uint32_t n_rows, plumb_error* error);
plumb_status kv_export(State& state, plumb_handle kv, uint32_t first, uint32_t n, float* k,
                       float* v, int32_t* positions, plumb_error* error);
plumb_status kv_import(State& state, plumb_handle kv, uint32_t first, uint32_t n, const float* k,
                       const float* v, const int32_t* positions, plumb_error* error);

}  // namespace plumbline::reference
