#include <algorithm>
#include <cmath>
#include <numbers>

#include "naive_ops.h"

namespace plumbline::reference {

/// Shapes  ids i32[T] · W [V,D] · out f32[T,D]
plumb_status embed(const OpCall& call) {
  const plumb_op_embed& op = call.op.as.embed;
  const uint64_t T = call.op.n_rows;
  OpArgs args(call);
  const Weight* weight = args.matrix("weight", op.weight, PLUMB_USE_EMBED, 0, 0);
  if (args.failed()) return args.status();
  const uint64_t V = weight->n_rows, D = weight->n_columns;
  const int32_t* ids = args.elements<const int32_t>("ids", op.ids, {T});
  float* out = args.elements<float>("out", op.out, {T, D});
  args.require_apart(ids, out, T * D, "out: expected apart from ids");
  if (args.failed()) return args.status();

  const uint64_t n_blocks = D / find_format(weight->format)->block_values;
  const Range rows = call.share(T);
  for (uint64_t t = rows.begin; t < rows.end; ++t) {
    if (ids[t] < 0 || static_cast<uint64_t>(ids[t]) >= V) {
      return failf(call.error, PLUMB_INVALID_ARGUMENT, "ids: %d at row %llu; expected 0 to %llu",
                   ids[t], static_cast<unsigned long long>(t),
                   static_cast<unsigned long long>(V - 1));
    }
    const uint64_t id = static_cast<uint64_t>(ids[t]);
    dequantise_blocks(weight->format, weight->data + id * weight->row_bytes, n_blocks, out + t * D);
  }
  return PLUMB_OK;
}

namespace {

/// out = (x - centre) / sqrt(mean((x - centre)^2) + eps) * w + b over rows of `width`; centre is 0
/// or the row's mean. Shapes  in, out f32[T,n_groups,width] · w, b f32[width]
plumb_status norm(const OpCall& call, bool is_centred) {
  const plumb_op_norm& op = call.op.as.norm;
  OpArgs args(call);
  const uint64_t n_rows = uint64_t{call.op.n_rows} * op.n_groups;
  const float* in = args.elements<const float>("in", op.in, {n_rows, op.width});
  float* out = args.elements<float>("out", op.out, {n_rows, op.width});
  const float* weight = args.vector("weight", op.weight, op.width);
  const float* bias = args.vector("bias", op.bias, op.width);
  args.require(is_centred || op.bias == 0, "bias: RMS_NORM has none");
  if (args.failed()) return args.status();

  const Range rows = call.share(n_rows);
  for (uint64_t r = rows.begin; r < rows.end; ++r) {
    const float* x = in + r * op.width;
    double centre = 0;
    if (is_centred) {
      for (uint64_t i = 0; i < op.width; ++i) centre += x[i];
      centre /= op.width;
    }
    double squares = 0;
    for (uint64_t i = 0; i < op.width; ++i) squares += (x[i] - centre) * (x[i] - centre);
    const double root = std::sqrt(squares / op.width + op.epsilon);
    for (uint64_t i = 0; i < op.width; ++i) {
      const double w = weight == nullptr ? 1.0 : weight[i];
      const double b = bias == nullptr ? 0.0 : bias[i];
      out[r * op.width + i] = static_cast<float>((x[i] - centre) / root * w + b);
    }
  }
  return PLUMB_OK;
}

/// out[i] = f(a[i], b[i]) over f32[T,width]; b is null where absent.
template <typename Function>
plumb_status elementwise(const OpCall& call, bool needs_b, Function&& f) {
  const plumb_op_elementwise& op = call.op.as.elementwise;
  const uint64_t T = call.op.n_rows;
  OpArgs args(call);
  const float* a = args.elements<const float>("a", op.a, {T, op.width});
  const float* b = nullptr;
  if (needs_b) b = args.elements<const float>("b", op.b, {T, op.width});
  float* out = args.elements<float>("out", op.out, {T, op.width});
  if (args.failed()) return args.status();

  const Range elements = call.share(T * op.width);
  for (uint64_t i = elements.begin; i < elements.end; ++i) {
    out[i] = static_cast<float>(f(double{a[i]}, b == nullptr ? 1.0 : double{b[i]}));
  }
  return PLUMB_OK;
}

double silu(double x) {
  return x / (1.0 + std::exp(-x));
}

/// Source: Hendrycks and Gimpel, "Gaussian Error Linear Units", and its tanh approximation.
double gelu_tanh(double x) {
  const double inner = std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1.0 + std::tanh(inner));
}

/// erfc instead of 1 + erf: no cancellation far below zero.
double gelu_erf(double x) {
  return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
}

}  // namespace

plumb_status rms_norm(const OpCall& call) {
  return norm(call, false);
}
plumb_status layer_norm(const OpCall& call) {
  return norm(call, true);
}

plumb_status activate(const OpCall& call) {
  const plumb_op_elementwise& op = call.op.as.elementwise;
  const bool is_gated = op.b.buffer != 0;
  switch (op.function) {
    case PLUMB_ACT_SILU:
      return elementwise(call, is_gated, [](double a, double b) { return silu(a) * b; });
    case PLUMB_ACT_GELU_TANH:
      return elementwise(call, is_gated, [](double a, double b) { return gelu_tanh(a) * b; });
    case PLUMB_ACT_GELU_ERF:
      return elementwise(call, is_gated, [](double a, double b) { return gelu_erf(a) * b; });
    default:
      return failf(call.error, PLUMB_INVALID_ARGUMENT, "function: unknown kind %u", op.function);
  }
}

plumb_status add(const OpCall& call) {
  return elementwise(call, true, [](double a, double b) { return a + b; });
}

plumb_status scale(const OpCall& call) {
  const double factor = call.op.as.elementwise.parameter;
  return elementwise(call, false, [factor](double a, double) { return a * factor; });
}

plumb_status softcap(const OpCall& call) {
  const double cap = call.op.as.elementwise.parameter;
  if (!(cap > 0))
    return failf(call.error, PLUMB_INVALID_ARGUMENT, "parameter: cap %g; expected more than 0",
                 cap);
  return elementwise(call, false, [cap](double a, double) { return cap * std::tanh(a / cap); });
}

/// (x, y) of each pair becomes (x cos - y sin, x sin + y cos), angles by the row's position.
/// Shapes  in, out f32[T,H,C] · cos, sin f32[table_rows,n_rotated/2]
plumb_status rope(const OpCall& call) {
  const plumb_op_rope& op = call.op.as.rope;
  const uint64_t T = call.op.n_rows, H = op.n_heads, C = op.head_width, half = op.n_rotated / 2;
  OpArgs args(call);
  const float* in = args.elements<const float>("in", op.in, {T, H, C});
  float* out = args.elements<float>("out", op.out, {T, H, C});
  const int32_t* positions = args.elements<const int32_t>("positions", op.positions, {T});
  const float* cosines =
      args.elements<const float>("cos_table", op.cos_table, {op.table_rows, half});
  const float* sines = args.elements<const float>("sin_table", op.sin_table, {op.table_rows, half});
  args.require_apart(positions, out, T * H * C, "out: expected apart from positions");
  args.require(op.n_rotated % 2 == 0 && op.n_rotated <= C,
               "n_rotated: expected even and at most head_width");
  args.require(op.pairing <= PLUMB_ROPE_INTERLEAVED, "pairing: unknown kind");
  if (args.failed()) return args.status();

  const bool is_half = op.pairing == PLUMB_ROPE_HALF;
  const Range heads = call.share(T * H);
  for (uint64_t th = heads.begin; th < heads.end; ++th) {
    const int32_t position = positions[th / H];
    if (position < 0 || static_cast<uint32_t>(position) >= op.table_rows) {
      return failf(call.error, PLUMB_INVALID_ARGUMENT,
                   "positions: %d at row %llu; expected 0 to %u", position,
                   static_cast<unsigned long long>(th / H), op.table_rows - 1);
    }
    const float* x = in + th * C;
    float* y = out + th * C;
    for (uint64_t i = 0; i < half; ++i) {
      const double cosine = cosines[static_cast<uint64_t>(position) * half + i];
      const double sine = sines[static_cast<uint64_t>(position) * half + i];
      const uint64_t first = is_half ? i : 2 * i, second = is_half ? i + half : 2 * i + 1;
      const double a = x[first], b = x[second];
      y[first] = static_cast<float>(a * cosine - b * sine);
      y[second] = static_cast<float>(a * sine + b * cosine);
    }
    if (x != y) std::copy(x + op.n_rotated, x + C, y + op.n_rotated);
  }
  return PLUMB_OK;
}

/// Shapes  in f32[T,width] · out i32[T]
/// Fails   NUMERIC if a value is NaN or infinite.
plumb_status argmax(const OpCall& call) {
  const plumb_op_argmax& op = call.op.as.argmax;
  OpArgs args(call);
  const float* in = args.elements<const float>("in", op.in, {call.op.n_rows, op.width});
  int32_t* out = args.elements<int32_t>("out", op.out, {call.op.n_rows});
  args.require(op.width <= INT32_MAX, "width: an index must fit in i32");
  if (args.failed()) return args.status();

  const Range rows = call.share(call.op.n_rows);
  for (uint64_t t = rows.begin; t < rows.end; ++t) {
    const float* x = in + t * op.width;
    for (uint64_t i = 0; i < op.width; ++i) {
      if (!std::isfinite(x[i])) {
        return failf(call.error, PLUMB_NUMERIC, "row %llu, value %llu is NaN or infinite",
                     static_cast<unsigned long long>(t), static_cast<unsigned long long>(i));
      }
    }
    out[t] = static_cast<int32_t>(std::max_element(x, x + op.width) - x);
  }
  return PLUMB_OK;
}

}  // namespace plumbline::reference
