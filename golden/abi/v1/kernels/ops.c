/* Ops as the host sends them: checked, then cut into parts. */
#include "kernels.h"

plumb_status PLUMB_CALL supports(void* self, const plumb_op_query* query, plumb_error* error) {
  (void)self;
  if (query == NULL || !PLUMB_HAS(query, plumb_op_query, n_out))
    return refuse(error, PLUMB_INVALID_ARGUMENT, "supports: the query is missing or too short");
  if (query->kind == PLUMB_OP_QUANTIZE) {
    if (query->n_in != 0 && query->n_in % PLUMB_QK == 0) return PLUMB_OK;
    return refuse(error, PLUMB_UNSUPPORTED, "quantize: the width is no multiple of 32");
  }
  if (query->kind != PLUMB_OP_MATMUL)
    return refuse(error, PLUMB_UNSUPPORTED, "only matmul and quantize are here");
  if (query->weight_format != PLUMB_Q8_0 || query->in_format != PLUMB_ACT_Q8)
    return refuse(error, PLUMB_UNSUPPORTED,
                  "matmul: expected Q8_0 weights and quantised activations");
  if (query->n_in == 0 || query->n_in % PLUMB_QK != 0)
    return refuse(error, PLUMB_UNSUPPORTED, "matmul: the width is no multiple of 32");
  return PLUMB_OK;
}

/* Where part p of n_parts begins in n items. */
static uint64_t begin_of(uint64_t n, uint32_t p, uint32_t n_parts) {
  return n / n_parts * p + n % n_parts * p / n_parts;
}

/* Bytes of rows * width items; 0 if they are none or too many for 64 bits. */
static uint64_t size_of(uint64_t rows, uint64_t width, uint64_t item_bytes) {
  if (width == 0 || rows > UINT64_MAX / item_bytes / width) return 0;
  return rows * width * item_bytes;
}

static plumb_status run_matmul(instance* self, const plumb_op* op, uint32_t part, uint32_t n_parts,
                               plumb_error* error) {
  const plumb_op_matmul* m = &op->as.matmul;
  const object* weight = find(self, m->weight, MATRIX);
  const object* bias = find(self, m->bias, VECTOR);
  if (weight == NULL || weight->n_out != m->n_out || weight->n_in != m->n_in)
    return refuse(error, PLUMB_INVALID_ARGUMENT, "matmul: weight: no matrix of that shape");
  if (m->bias != 0 && (bias == NULL || bias->n_in != m->n_out))
    return refuse(error, PLUMB_INVALID_ARGUMENT, "matmul: bias: no vector of that length");
  if (m->in_format != PLUMB_ACT_Q8)
    return refuse(error, PLUMB_UNSUPPORTED, "matmul: expected quantised activations");
  const uint64_t in_bytes = size_of(op->n_rows, m->n_in / PLUMB_QK, sizeof(block));
  const uint64_t out_bytes = size_of(op->n_rows, m->n_out, sizeof(float));
  const block* in = resolve(self, m->in, in_bytes, sizeof(float));
  float* out = resolve(self, m->out, out_bytes, sizeof(float));
  if (in == NULL || out == NULL || in_bytes == 0 || out_bytes == 0)
    return refuse(error, PLUMB_INVALID_ARGUMENT, "matmul: in or out leaves its buffer");
  matmul(weight->values, in, bias == NULL ? NULL : bias->values, op->n_rows, m->n_in, m->n_out,
         begin_of(m->n_out, part, n_parts), begin_of(m->n_out, part + 1, n_parts), out);
  return PLUMB_OK;
}

static plumb_status run_quantize(instance* self, const plumb_op* op, uint32_t part,
                                 uint32_t n_parts, plumb_error* error) {
  const plumb_op_quantize* q = &op->as.quantize;
  const uint64_t n_blocks = (uint64_t)op->n_rows * (q->width / PLUMB_QK);
  const float* in = resolve(self, q->in, n_blocks * PLUMB_QK * sizeof(float), sizeof(float));
  block* out = resolve(self, q->out, n_blocks * sizeof(block), sizeof(float));
  if (q->width == 0 || q->width % PLUMB_QK != 0)
    return refuse(error, PLUMB_INVALID_ARGUMENT, "quantize: the width is no multiple of 32");
  if (in == NULL || out == NULL)
    return refuse(error, PLUMB_INVALID_ARGUMENT, "quantize: in or out leaves its buffer");
  const uint64_t last = begin_of(n_blocks, part + 1, n_parts);
  for (uint64_t b = begin_of(n_blocks, part, n_parts); b < last; ++b) {
    if (!quantize(in + b * PLUMB_QK, out + b))
      return refuse(error, PLUMB_NUMERIC, "quantize: a value is NaN or infinite");
  }
  return PLUMB_OK;
}

plumb_status PLUMB_CALL execute(void* self, const plumb_op* ops, uint32_t n_ops,
                                plumb_handle worker, uint32_t part, uint32_t n_parts,
                                plumb_error* error) {
  if (find(self, worker, WORKER) == NULL || n_parts == 0 || part >= n_parts)
    return refuse(error, PLUMB_INVALID_ARGUMENT, "execute: worker or part");
  if (ops == NULL && n_ops != 0) return refuse(error, PLUMB_INVALID_ARGUMENT, "execute: no ops");
  for (uint32_t i = 0; i < n_ops; ++i) {
    /* Records of a newer host may be longer: they lie struct_bytes apart. */
    const plumb_op* op = (const plumb_op*)((const char*)ops + (uint64_t)i * ops->struct_bytes);
    plumb_status status;
    if (!PLUMB_HAS(op, plumb_op, as) || op->n_rows == 0) {
      status =
          refuse(error, PLUMB_INVALID_ARGUMENT, "execute: a record is too short or has no rows");
    } else if (op->kind == PLUMB_OP_MATMUL) {
      status = run_matmul(self, op, part, n_parts, error);
    } else if (op->kind == PLUMB_OP_QUANTIZE) {
      status = run_quantize(self, op, part, n_parts, error);
    } else {
      status = refuse(error, PLUMB_UNSUPPORTED, "execute: only matmul and quantize are here");
    }
    if (status != PLUMB_OK) {
      if (error != NULL && PLUMB_HAS(op, plumb_op, id)) error->op_id = op->id;
      return status;
    }
  }
  return PLUMB_OK;
}
