// kernels.h: what an instance owns, and the two loops that cost time.
#pragma once

#include <plumb/ext/kernels.h>
#include <plumb/sdk/kernels/handle_table.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace kernels {

/// 32 values: scale * code. Prepared weights and quantised activations both lie so, row after row:
/// no half precision and nothing unaligned is left for the inner loop.
struct Block {
  float scale;
  int8_t codes[PLUMB_QK];
};

struct Buffer {
  struct Aligned {
    alignas(64) std::byte bytes[64];
  };
  std::vector<Aligned> memory;
  uint64_t n_bytes;
};

/// A matrix of blocks [n_out, n_in / 32], or a vector f32[n_in].
struct Weight {
  uint32_t use;  // PLUMB_USE_MATMUL or PLUMB_USE_VECTOR
  uint64_t n_out, n_in;
  const void* values;
};

struct Worker {};

/// Handles of another kind, or of what was removed, find nothing.
struct State {
  plumbline::HandleTable<Buffer> buffers{1};
  plumbline::HandleTable<Weight> weights{2};
  plumbline::HandleTable<Worker> workers{3};
  uint32_t n_workers_max = 0;
};

/// [slice, slice + n_bytes) as memory, or null if it leaves its buffer.
std::byte* resolve(const State& state, plumb_slice slice, uint64_t n_bytes);

/// weights.cc; as plumb_kernels has them.
plumb_status prepare_bytes(const plumb_tensor* tensor, uint32_t uses, uint64_t* bytes,
                           plumb_error* error);
plumb_status prepare(State& state, const plumb_tensor* tensor, uint32_t uses,
                     plumb_slice destination, plumb_handle* weight, plumb_error* error);

/// ops.cc; as plumb_kernels has them.
plumb_status supports(const plumb_op_query* query, plumb_error* error);
plumb_status execute(State& state, const plumb_op* ops, uint32_t n_ops, plumb_handle worker,
                     uint32_t part, uint32_t n_parts, plumb_error* error);

/// matmul.cc: out f32[n_rows, n_out] for the outputs [first, last); bias f32[n_out] or null.
void matmul(const Block* weight, const Block* in, const float* bias, uint64_t n_rows, uint64_t n_in,
            uint64_t n_out, uint64_t first, uint64_t last, float* out);
/// One block of activations. False if a value is NaN or infinite.
bool quantize(const float* in, Block& out);

}  // namespace kernels
