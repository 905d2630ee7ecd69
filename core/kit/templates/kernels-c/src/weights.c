/* Tensors of a file into this backend's layout: Q8_0 matrices, and f32 vectors for biases. */
#include <math.h>
#include <string.h>

#include "kernels.h"

/* The f32 of a binary16 bit pattern. */
static float half(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const float magnitude = exponent == 31  ? (fraction == 0 ? INFINITY : NAN)
                          : exponent == 0 ? ldexpf((float)fraction, -24)
                                          : ldexpf((float)(fraction + 1024), exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

/* What a tensor becomes, and its room; UNSUPPORTED for all else. */
static plumb_status plan_weight(const plumb_tensor* tensor, uint32_t uses, object* weight,
                                uint64_t* bytes, plumb_error* error) {
  if (tensor == NULL || !PLUMB_HAS(tensor, plumb_tensor, data) || tensor->data.data == NULL)
    return refuse(error, PLUMB_INVALID_ARGUMENT, "prepare: the tensor is missing or too short");
  const uint64_t size = tensor->data.bytes;
  if (uses == PLUMB_USE_VECTOR && tensor->format == PLUMB_F32 && tensor->rank == 1) {
    *weight = (object){.kind = VECTOR, .n_out = 1, .n_in = tensor->dims[0]};
    *bytes = size;
    if (tensor->dims[0] == 0 || size / sizeof(float) != tensor->dims[0] ||
        size % sizeof(float) != 0)
      return refuse(error, PLUMB_INVALID_ARGUMENT, "prepare: the vector's size is not its shape's");
    return PLUMB_OK;
  }
  if (uses != PLUMB_USE_MATMUL || tensor->format != PLUMB_Q8_0 || tensor->rank != 2)
    return refuse(error, PLUMB_UNSUPPORTED,
                  "prepare: expected a Q8_0 matrix for matmul, or an f32 vector");
  const uint64_t n_out = tensor->dims[0], n_in = tensor->dims[1];
  const uint64_t n_blocks = size / sizeof(plumb_block_q8_0), row_blocks = n_in / PLUMB_QK;
  if (n_out == 0 || row_blocks == 0 || n_in % PLUMB_QK != 0 || n_blocks % row_blocks != 0 ||
      n_blocks / row_blocks != n_out || size % sizeof(plumb_block_q8_0) != 0) {
    return refuse(error, PLUMB_INVALID_ARGUMENT, "prepare: the matrix's size is not its shape's");
  }
  *weight = (object){.kind = MATRIX, .n_out = n_out, .n_in = n_in};
  *bytes = n_blocks * sizeof(block);
  return PLUMB_OK;
}

plumb_status PLUMB_CALL prepare_bytes(void* self, const plumb_tensor* tensor, uint32_t uses,
                                      uint64_t* bytes, plumb_error* error) {
  (void)self;
  object weight;
  if (bytes == NULL)
    return refuse(error, PLUMB_INVALID_ARGUMENT, "prepare_bytes: no place for the answer");
  return plan_weight(tensor, uses, &weight, bytes, error);
}

plumb_status PLUMB_CALL prepare(void* self, const plumb_tensor* tensor, uint32_t uses,
                                plumb_slice destination, plumb_handle* weight, plumb_error* error) {
  object made;
  uint64_t bytes = 0;
  if (weight == NULL)
    return refuse(error, PLUMB_INVALID_ARGUMENT, "prepare: no place for the handle");
  const plumb_status status = plan_weight(tensor, uses, &made, &bytes, error);
  if (status != PLUMB_OK) return status;
  void* to = resolve(self, destination, bytes, sizeof(float));
  if (to == NULL)
    return refuse(error, PLUMB_INVALID_ARGUMENT, "prepare: no room at the destination");
  if (made.kind == VECTOR) {
    memcpy(to, tensor->data.data, bytes);
  } else {
    block* blocks = to;
    for (uint64_t b = 0; b < bytes / sizeof(block); ++b) {
      plumb_block_q8_0 from; /* in a file it may lie at any byte */
      memcpy(&from, tensor->data.data + b * sizeof from, sizeof from);
      blocks[b].scale = half(from.d);
      if (!isfinite(blocks[b].scale))
        return refuse(error, PLUMB_CORRUPT, "prepare: the scale of a block is not finite");
      memcpy(blocks[b].codes, from.qs, sizeof from.qs);
    }
  }
  made.values = to;
  *weight = add(self, made);
  return *weight != 0 ? PLUMB_OK : refuse(error, PLUMB_INTERNAL, "prepare: out of memory");
}

void PLUMB_CALL release(void* self, plumb_handle weight) {
  drop(self, weight, MATRIX);
  drop(self, weight, VECTOR);
}
