// weights.cc: tensors checked and turned into weights.
#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

#include "interleave.h"
#include "plumb/sdk/abi.h"
#include "plumb/sdk/blocks.h"
#include "state.h"

namespace plumbline::cpu {
namespace {

int name_bytes(const plumb_tensor& tensor) {
  return static_cast<int>(std::min<uint64_t>(tensor.name.bytes, 128));
}

/// Shape, format and uses of a tensor, before anything of it is read.
plumb_status check_tensor(const plumb_tensor* tensor, uint32_t uses, plumb_error* error) {
  if (tensor == nullptr || !PLUMB_HAS(tensor, plumb_tensor, file_offset)) {
    return fail(error, PLUMB_INVALID_ARGUMENT,
                "prepare: tensor is missing or its struct_bytes too small");
  }
  const int n = name_bytes(*tensor);
  const char* name = tensor->name.data;
  constexpr uint32_t kMatrixUses = PLUMB_USE_MATMUL | PLUMB_USE_EMBED;
  const bool is_vector = uses == PLUMB_USE_VECTOR;
  if (!is_vector && (uses == 0 || (uses & ~kMatrixUses) != 0)) {
    return failf(error, PLUMB_INVALID_ARGUMENT,
                 "tensor %.*s: uses 0x%x; expected MATMUL, EMBED, both, or VECTOR alone", n, name,
                 uses);
  }
  const uint32_t rank = is_vector ? 1 : 2;
  if (tensor->rank != rank) {
    return failf(error, PLUMB_UNSUPPORTED, "tensor %.*s: rank %u; expected %u for this use", n,
                 name, tensor->rank, rank);
  }
  const Layout* layout = find_layout(tensor->format);
  if (layout == nullptr || (is_vector && !layout->plain())) {
    return failf(error, PLUMB_UNSUPPORTED, "tensor %.*s: format %d is not one of this use", n, name,
                 tensor->format);
  }
  const std::span<const uint64_t> dims(tensor->dims, rank);
  if (dims.back() % layout->unit_values() != 0) {
    return failf(error, PLUMB_UNSUPPORTED,
                 "tensor %.*s: rows of %llu values; this format needs a multiple of %llu", n, name,
                 static_cast<unsigned long long>(dims.back()),
                 static_cast<unsigned long long>(layout->unit_values()));
  }
  const std::optional<uint64_t> bytes = tensor_bytes(tensor->format, dims);
  if (!bytes || *bytes == 0 || *bytes != tensor->data.bytes || tensor->data.data == nullptr) {
    return failf(error, PLUMB_INVALID_ARGUMENT,
                 "tensor %.*s: %llu bytes of data; its shape asks for %llu", n, name,
                 static_cast<unsigned long long>(tensor->data.bytes),
                 static_cast<unsigned long long>(bytes.value_or(0)));
  }
  return PLUMB_OK;
}

/// The room that a checked tensor needs. Nothing if it does not fit in 64 bits.
std::optional<uint64_t> layout_bytes(const plumb_tensor& tensor, uint32_t uses) {
  if (uses == PLUMB_USE_VECTOR) {
    return checked_product(tensor.dims[0] / kLanes + 1, kLanes * sizeof(float));
  }
  const Layout& layout = *find_layout(tensor.format);
  const auto panel = checked_product(tensor.dims[1] / layout.unit_values(), layout.unit_bytes());
  return panel ? checked_product(tensor.dims[0] / kLanes + (tensor.dims[0] % kLanes != 0), *panel)
               : std::nullopt;
}

}  // namespace

plumb_status prepare_bytes(const plumb_tensor* tensor, uint32_t uses, uint64_t* bytes,
                           plumb_error* error) {
  if (const plumb_status status = check_tensor(tensor, uses, error); status != PLUMB_OK)
    return status;
  const std::optional<uint64_t> needed = layout_bytes(*tensor, uses);
  if (!needed) return fail(error, PLUMB_UNSUPPORTED, "prepare: the tensor is too large");
  *bytes = *needed;
  return PLUMB_OK;
}

plumb_status prepare_begin(State& state, const plumb_tensor* tensor, uint32_t uses,
                           plumb_slice destination, plumb_handle* weight, plumb_error* error) {
  uint64_t bytes = 0;
  if (const plumb_status status = prepare_bytes(tensor, uses, &bytes, error); status != PLUMB_OK)
    return status;
  const uint8_t* place = resolve(state, destination, bytes);
  if (place == nullptr || reinterpret_cast<uintptr_t>(place) % sizeof(float) != 0) {
    return failf(error, PLUMB_INVALID_ARGUMENT,
                 "prepare: destination is not %llu aligned bytes of a buffer",
                 static_cast<unsigned long long>(bytes));
  }
  const bool is_vector = uses == PLUMB_USE_VECTOR;
  auto begun = std::make_unique<Weight>();
  begun->layout = is_vector ? nullptr : find_layout(tensor->format);
  begun->uses = uses;
  begun->n_rows = is_vector ? 1 : tensor->dims[0];
  begun->n_columns = tensor->dims[is_vector ? 0 : 1];
  begun->place = destination;
  begun->bytes = bytes;
  *weight = state.weights.add(std::move(begun));
  return *weight != 0 ? PLUMB_OK : fail(error, PLUMB_INTERNAL, "prepare: too many weights");
}

plumb_status prepare_rows(const State& state, plumb_handle handle, const plumb_tensor* tensor,
                          uint64_t first_row, uint64_t n_rows, plumb_error* error) {
  const Weight* weight = state.weights.find(handle);
  if (weight == nullptr)
    return fail(error, PLUMB_INVALID_ARGUMENT, "weight: not a live handle of a weight");
  uint64_t bytes = 0;
  if (const plumb_status status = prepare_bytes(tensor, weight->uses, &bytes, error);
      status != PLUMB_OK)
    return status;
  uint8_t* out = resolve(state, weight->place, weight->bytes);
  const bool is_vector = weight->layout == nullptr;
  const uint64_t n_columns = tensor->dims[is_vector ? 0 : 1];
  if (out == nullptr || bytes != weight->bytes || n_columns != weight->n_columns ||
      (!is_vector &&
       (tensor->dims[0] != weight->n_rows || tensor->format != weight->layout->format))) {
    return failf(error, PLUMB_INVALID_ARGUMENT,
                 "tensor %.*s: not the one that the weight was begun with, or its buffer is gone",
                 name_bytes(*tensor), tensor->name.data);
  }
  const uint64_t end = first_row + n_rows;
  if (first_row > weight->n_rows || n_rows > weight->n_rows - first_row ||
      first_row % PLUMB_PIECE_ROWS != 0 ||
      (n_rows % PLUMB_PIECE_ROWS != 0 && end != weight->n_rows)) {
    return failf(error, PLUMB_INVALID_ARGUMENT,
                 "tensor %.*s: rows %llu to %llu of %llu; expected multiples of %u inside",
                 name_bytes(*tensor), tensor->name.data, static_cast<unsigned long long>(first_row),
                 static_cast<unsigned long long>(end),
                 static_cast<unsigned long long>(weight->n_rows), PLUMB_PIECE_ROWS);
  }
  if (is_vector) {
    std::memset(out, 0, bytes);
    dequantise_blocks(tensor->format, tensor->data.data, n_columns, reinterpret_cast<float*>(out));
    return PLUMB_OK;
  }
  const Range panels{first_row / kLanes, round_up(end, kLanes) / kLanes};
  if (const std::optional<uint64_t> bad = interleave(*tensor, panels, out)) {
    return failf(error, PLUMB_CORRUPT, "tensor %.*s: block %llu has a scale that is not finite",
                 name_bytes(*tensor), tensor->name.data, static_cast<unsigned long long>(*bad));
  }
  return PLUMB_OK;
}

plumb_status prepare(State& state, const plumb_tensor* tensor, uint32_t uses,
                     plumb_slice destination, plumb_handle* weight, plumb_error* error) {
  if (const plumb_status status = prepare_begin(state, tensor, uses, destination, weight, error);
      status != PLUMB_OK)
    return status;
  const uint64_t n_rows = state.weights.find(*weight)->n_rows;
  const plumb_status status = prepare_rows(state, *weight, tensor, 0, n_rows, error);
  if (status != PLUMB_OK) state.weights.remove(*weight);
  return status;
}

}  // namespace plumbline::cpu
