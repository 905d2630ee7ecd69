// Tensors of a file into this backend's layout: Q8_0 matrices, and f32 vectors for biases.
#include <plumb/sdk/abi.h>
#include <plumb/sdk/blocks.h>

#include <cmath>
#include <cstring>

#include "kernels.h"

namespace kernels {
namespace {

using plumbline::fail;

/// What a tensor becomes, and its room.
struct Plan {
  Weight weight;
  uint64_t n_bytes;
};

plumb_status plan_weight(const plumb_tensor* tensor, uint32_t uses, Plan& plan,
                         plumb_error* error) {
  if (tensor == nullptr || !PLUMB_HAS(tensor, plumb_tensor, data) || tensor->data.data == nullptr)
    return fail(error, PLUMB_INVALID_ARGUMENT, "prepare: the tensor is missing or too short");
  const uint64_t n_bytes = tensor->data.bytes;
  if (uses == PLUMB_USE_VECTOR && tensor->format == PLUMB_F32 && tensor->rank == 1) {
    plan = {{uses, 1, tensor->dims[0], nullptr}, n_bytes};
    if (plan.weight.n_in != 0 &&
        plumbline::checked_product(plan.weight.n_in, sizeof(float)) == n_bytes)
      return PLUMB_OK;
    return fail(error, PLUMB_INVALID_ARGUMENT, "prepare: the vector's size is not its shape's");
  }
  if (uses != PLUMB_USE_MATMUL || tensor->format != PLUMB_Q8_0 || tensor->rank != 2) {
    return plumbline::failf(
        error, PLUMB_UNSUPPORTED,
        "prepare: format %d, rank %u, uses %u; expected a Q8_0 matrix for matmul, or an f32 vector",
        tensor->format, tensor->rank, uses);
  }
  const uint64_t n_out = tensor->dims[0], n_in = tensor->dims[1];
  const auto n_blocks = plumbline::checked_product(n_out, n_in / PLUMB_QK);
  if (!n_blocks || *n_blocks == 0 || n_in % PLUMB_QK != 0 ||
      plumbline::checked_product(*n_blocks, sizeof(plumb_block_q8_0)) != n_bytes)
    return fail(error, PLUMB_INVALID_ARGUMENT, "prepare: the matrix's size is not its shape's");
  plan = {{uses, n_out, n_in, nullptr}, *n_blocks * sizeof(Block)};
  return PLUMB_OK;
}

}  // namespace

plumb_status prepare_bytes(const plumb_tensor* tensor, uint32_t uses, uint64_t* bytes,
                           plumb_error* error) {
  if (bytes == nullptr)
    return fail(error, PLUMB_INVALID_ARGUMENT, "prepare_bytes: no place for the answer");
  Plan plan{};
  const plumb_status status = plan_weight(tensor, uses, plan, error);
  if (status == PLUMB_OK) *bytes = plan.n_bytes;
  return status;
}

plumb_status prepare(State& state, const plumb_tensor* tensor, uint32_t uses,
                     plumb_slice destination, plumb_handle* weight, plumb_error* error) {
  if (weight == nullptr)
    return fail(error, PLUMB_INVALID_ARGUMENT, "prepare: no place for the handle");
  Plan plan{};
  if (const plumb_status status = plan_weight(tensor, uses, plan, error); status != PLUMB_OK)
    return status;
  std::byte* to = resolve(state, destination, plan.n_bytes);
  if (to == nullptr || destination.offset_bytes % alignof(Block) != 0)
    return fail(error, PLUMB_INVALID_ARGUMENT, "prepare: no room at the destination");
  if (uses == PLUMB_USE_VECTOR) {
    std::memcpy(to, tensor->data.data, plan.n_bytes);
  } else {
    auto* blocks = reinterpret_cast<Block*>(to);
    for (uint64_t b = 0; b < plan.n_bytes / sizeof(Block); ++b) {
      plumb_block_q8_0 from;  // in a file it may lie at any byte
      std::memcpy(&from, tensor->data.data + b * sizeof from, sizeof from);
      blocks[b].scale = plumbline::f16_to_f32(from.d);
      if (!std::isfinite(blocks[b].scale)) {
        return plumbline::failf(error, PLUMB_CORRUPT, "prepare: the scale of block %llu is %g",
                                static_cast<unsigned long long>(b), double{blocks[b].scale});
      }
      std::memcpy(blocks[b].codes, from.qs, sizeof from.qs);
    }
  }
  plan.weight.values = to;
  *weight = state.weights.add(std::make_unique<Weight>(plan.weight));
  return *weight != 0 ? PLUMB_OK : fail(error, PLUMB_INTERNAL, "prepare: too many weights");
}

}  // namespace kernels
