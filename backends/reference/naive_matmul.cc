#include <cmath>

#include "naive_ops.h"

namespace plumbline::reference {

namespace {

/// sum x[i] * w[i]. Eight strided sums let the compiler use vectors; each product of two f32 is
/// exact in f64.
double dot(const float* x, const float* w, uint64_t n) {
  double sums[8] = {};
  uint64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (uint64_t j = 0; j < 8; ++j) sums[j] += double{x[i + j]} * double{w[i + j]};
  }
  double sum = 0;
  for (; i < n; ++i) sum += double{x[i]} * double{w[i]};
  for (const double part : sums) sum += part;
  return sum;
}

/// sum of scale * code * w over n / 32 blocks, on the very codes that quantize made.
double dot(const Q8Block* x, const float* w, uint64_t n) {
  double sum = 0;
  for (uint64_t b = 0; b < n / PLUMB_QK; ++b) {
    double block_sum = 0;
    for (uint64_t i = 0; i < PLUMB_QK; ++i)
      block_sum += double{w[b * PLUMB_QK + i]} * x[b].codes[i];
    sum += double{x[b].scale} * block_sum;
  }
  return sum;
}

/// out[t,n] = sum_k x[t,k] * W[n,k] + bias[n] for this part's rows n of W: each is dequantised
/// once, for all tokens. Shapes  x f32[T,n_in] or Q8Block[T,n_in/32] · W [n_out,n_in] · out
/// f32[T,n_out]
template <typename X>
void matmul_rows(const OpCall& call, const Weight& weight, const X* x, uint64_t x_stride,
                 const float* bias, float* out) {
  const uint64_t n_in = weight.n_columns, n_out = weight.n_rows;
  const uint64_t n_blocks = n_in / find_format(weight.format)->block_values;
  float* row = call.worker.floats.data();
  const Range rows = call.share(n_out);
  for (uint64_t n = rows.begin; n < rows.end; ++n) {
    dequantise_blocks(weight.format, weight.data + n * weight.row_bytes, n_blocks, row);
    for (uint64_t t = 0; t < call.op.n_rows; ++t) {
      const double sum = dot(x + t * x_stride, row, n_in);
      out[t * n_out + n] = static_cast<float>(bias == nullptr ? sum : sum + bias[n]);
    }
  }
}

}  // namespace

plumb_status matmul(const OpCall& call) {
  const plumb_op_matmul& op = call.op.as.matmul;
  const uint64_t T = call.op.n_rows;
  OpArgs args(call);
  const Weight* weight = args.matrix("weight", op.weight, PLUMB_USE_MATMUL, op.n_out, op.n_in);
  const float* bias = args.vector("bias", op.bias, op.n_out);
  float* out = args.elements<float>("out", op.out, {T, op.n_out});
  args.require(op.in_format == PLUMB_F32 || op.in_format == PLUMB_ACT_Q8,
               "in_format: expected F32 or ACT_Q8");
  args.require(call.worker.floats.size() >= op.n_in,
               "worker: scratch too small; plan this op first");
  if (op.in_format == PLUMB_F32) {
    const float* in = args.elements<const float>("in", op.in, {T, op.n_in});
    if (args.failed()) return args.status();
    matmul_rows(call, *weight, in, op.n_in, bias, out);
    return PLUMB_OK;
  }
  const Q8Block* in = args.elements<const Q8Block>("in", op.in, {T, op.n_in / PLUMB_QK});
  if (args.failed()) return args.status();
  if (!find_format(weight->format)->is_quantised) {
    return fail(call.error, PLUMB_UNSUPPORTED,
                "in_format: ACT_Q8 goes with quantised weights only");
  }
  matmul_rows(call, *weight, in, op.n_in / PLUMB_QK, bias, out);
  return PLUMB_OK;
}

/// Shapes  in f32[T,width] · out Q8Block[T,width/32]
/// Fails   NUMERIC if a value is NaN or infinite. Exact by rule 2 of core/doc/numerics.md, in f32.
plumb_status quantize(const OpCall& call) {
  const plumb_op_quantize& op = call.op.as.quantize;
  OpArgs args(call);
  args.require(op.width % PLUMB_QK == 0, "width: expected a multiple of 32");
  const float* in = args.elements<const float>("in", op.in, {call.op.n_rows, op.width});
  Q8Block* out = args.elements<Q8Block>("out", op.out, {call.op.n_rows, op.width / PLUMB_QK});
  if (args.failed()) return args.status();

  const Range blocks = call.share(uint64_t{call.op.n_rows} * (op.width / PLUMB_QK));
  for (uint64_t b = blocks.begin; b < blocks.end; ++b) {
    const float* x = in + b * PLUMB_QK;
    float largest = 0;
    for (int i = 0; i < PLUMB_QK; ++i) {
      if (!std::isfinite(x[i])) {
        return failf(call.error, PLUMB_NUMERIC, "row %llu, value %llu is NaN or infinite",
                     static_cast<unsigned long long>((b * PLUMB_QK + i) / op.width),
                     static_cast<unsigned long long>((b * PLUMB_QK + i) % op.width));
      }
      largest = std::fmax(largest, std::fabs(x[i]));
    }
    const bool is_zero = largest < 0x1p-100f;
    const float inverse = is_zero ? 0 : 127.0f / largest;
    out[b].scale = is_zero ? 0 : largest / 127.0f;
    for (int i = 0; i < PLUMB_QK; ++i) {
      out[b].codes[i] = static_cast<int8_t>(std::nearbyint(x[i] * inverse));
    }
  }
  return PLUMB_OK;
}

}  // namespace plumbline::reference
