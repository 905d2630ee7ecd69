// weights.cc: tensors on their way to the inner backend, and what is kept of them.
#include <cstring>

#include "plumb/sdk/blocks.h"
#include "state.h"

namespace plumbline::fault {
namespace {

bool is_matrix(uint32_t uses) {
  return (uses & (PLUMB_USE_MATMUL | PLUMB_USE_EMBED)) != 0;
}

bool is_changed(const Fault& fault, uint32_t uses) {
  const bool is_broken = ((uses & PLUMB_USE_MATMUL) != 0 && fault.ops.has(PLUMB_OP_MATMUL)) ||
                         ((uses & PLUMB_USE_EMBED) != 0 && fault.ops.has(PLUMB_OP_EMBED));
  return fault.change_weight != nullptr && is_broken;
}

/// Fails UNSUPPORTED: a matrix that the fault cannot break, or not for one use alone.
plumb_status check_uses(const Fault& fault, const plumb_tensor& tensor, uint32_t uses,
                        plumb_error* error) {
  const std::string misfit = misfit_of_format(fault, tensor.format);
  if (!misfit.empty()) return fail(error, PLUMB_UNSUPPORTED, misfit);
  if ((uses & PLUMB_USE_EMBED) != 0 && !fault.ops.has(PLUMB_OP_EMBED)) {
    return fail(error, PLUMB_UNSUPPORTED,
                needs(fault, "a weight that is used in products only: place embed elsewhere"));
  }
  return PLUMB_OK;
}

/// The tensor as the fault makes it; blocks holds what it points to.
plumb_tensor changed(const Fault& fault, const plumb_tensor& tensor, std::vector<uint8_t>& blocks) {
  MatrixCopy copy{tensor.format,
                  tensor.dims[0],
                  tensor.dims[1],
                  {tensor.data.data, tensor.data.data + tensor.data.bytes}};
  fault.change_weight(copy);
  blocks = std::move(copy.blocks);
  plumb_tensor result = tensor;
  result.struct_bytes = sizeof result;
  result.format = copy.format;
  result.data = {blocks.data(), blocks.size()};
  return result;
}

std::vector<float> values_of(const plumb_tensor& tensor) {
  std::vector<float> values(tensor.dims[0]);
  dequantise_blocks(tensor.format, tensor.data.data, values.size(), values.data());
  return values;
}

}  // namespace

plumb_status prepare_bytes(State& state, const plumb_tensor* tensor, uint32_t uses, uint64_t* bytes,
                           plumb_error* error) {
  // The inner backend's checks of the tensor come first.
  const plumb_status status = state.inner->prepare_bytes(state.self, tensor, uses, bytes, error);
  if (status != PLUMB_OK || !is_changed(*state.fault, uses)) return status;
  if (const plumb_status fits = check_uses(*state.fault, *tensor, uses, error); fits != PLUMB_OK)
    return fits;
  std::vector<uint8_t> blocks;
  const plumb_tensor other = changed(*state.fault, *tensor, blocks);
  return state.inner->prepare_bytes(state.self, &other, uses, bytes, error);
}

plumb_status prepare(State& state, const plumb_tensor* tensor, uint32_t uses,
                     plumb_slice destination, plumb_handle* weight, plumb_error* error) {
  if (weight == nullptr)
    return fail(error, PLUMB_INVALID_ARGUMENT, "prepare: nowhere to put the handle");
  uint64_t bytes = 0;
  plumb_status status = prepare_bytes(state, tensor, uses, &bytes, error);
  if (status != PLUMB_OK) return status;
  const Fault& fault = *state.fault;
  Weight kept{tensor->format, 1, tensor->dims[0], {}, {}};
  plumb_tensor given = *tensor;
  given.struct_bytes = sizeof given;
  if (is_matrix(uses)) {
    kept.n_rows = tensor->dims[0];
    kept.n_columns = tensor->dims[1];
    if (is_changed(fault, uses)) given = changed(fault, *tensor, kept.blocks);
  }
  status = state.inner->prepare(state.self, &given, uses, destination, weight, error);
  if (status != PLUMB_OK) return status;
  if (!is_matrix(uses)) {
    kept.values = values_of(*tensor);
  } else if (fault.needs_q8) {
    kept.blocks.assign(tensor->data.data, tensor->data.data + tensor->data.bytes);
  } else if (bytes != 0) {
    kept.blocks = {};  // the inner backend has its own
  }
  state.weights.add(*weight, std::move(kept));
  return PLUMB_OK;
}

}  // namespace plumbline::fault
