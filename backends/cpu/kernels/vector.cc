// vector.cc: ops on rows of f32: quantize, norms, rope, elementwise functions, argmax.
#include "backends/cpu/kernels/functions.h"
#include "backends/cpu/kernels/math.h"

namespace plumbline::cpu::PLUMB_CPU_VARIANT {
namespace {

/// The sum over a row of term(values), by 16 strided partial sums. A lane beyond the end adds +0,
/// which changes no partial sum, as those are never -0.
template <typename Term>
PLUMB_INLINE float strided_sum(const float* x, uint64_t width, Term term) {
  f32x16 partial = splat(0.0f);
  uint64_t i = 0;
  for (; i + kWidth <= width; i += kWidth) partial = add(partial, term(load(x + i)));
  if (i < width) {
    const f32x16 last = term(load_first(x + i, width - i));
    partial = add(partial, select(first_lanes(static_cast<int64_t>(width - i)), last, splat(0.0f)));
  }
  return fold_add(partial);
}

/// out[i] = value(i-th group of 16) for n values; the last group may be short.
template <typename Value>
PLUMB_INLINE void each_group(float* out, uint64_t n, Range groups, Value value) {
  for (uint64_t g = groups.begin; g < groups.end; ++g) {
    const uint64_t i = g * kWidth;
    if (i + kWidth <= n) {
      store(out + i, value([i](const float* x) { return load(x + i); }));
    } else {
      const uint64_t rest = n - i;
      store_first(out + i, value([i, rest](const float* x) { return load_first(x + i, rest); }),
                  rest);
    }
  }
}

PLUMB_INLINE f32x16 silu(f32x16 x) {
  return div(x, add(splat(1.0f), exp(sub(splat(0.0f), x))));
}
PLUMB_INLINE f32x16 gelu_tanh(f32x16 x) {
  const f32x16 cube = mul(mul(x, x), x);
  const f32x16 inner = mul(splat(0.797884560802865356f), add(x, mul(splat(0.044715f), cube)));
  return mul(x, mul(splat(0.5f), add(splat(1.0f), tanh(inner))));
}
PLUMB_INLINE f32x16 gelu_erf(f32x16 x) {
  return mul(x, mul(splat(0.5f), add(splat(1.0f), erf(mul(x, splat(0.707106781186547524f))))));
}

template <typename Function>
PLUMB_INLINE void activate(const float* a, const float* b, float* out, uint64_t n, Range groups,
                           Function f) {
  if (b == nullptr) {
    each_group(out, n, groups, [&](auto at) { return f(at(a)); });
  } else {
    each_group(out, n, groups, [&](auto at) { return mul(f(at(a)), at(b)); });
  }
}

}  // namespace

Outcome norm(const NormArgs& args, Range rows) {
  const auto width = static_cast<float>(args.width);
  for (uint64_t row = rows.begin; row < rows.end; ++row) {
    const float* x = args.in + row * args.width;
    float mean = 0.0f;
    float sum = 0.0f;
    if (args.layer != 0) {
      mean = strided_sum(x, args.width, [](f32x16 v) { return v; }) / width;
      sum = strided_sum(x, args.width, [mean](f32x16 v) {
        const f32x16 centred = sub(v, splat(mean));
        return mul(centred, centred);
      });
    } else {
      sum = strided_sum(x, args.width, [](f32x16 v) { return mul(v, v); });
    }
    const float scale = 1.0f / sqrt(sum / width + args.epsilon);
    each_group(args.out + row * args.width, args.width, {0, (args.width + kLanes - 1) / kLanes},
               [&](auto at) {
                 f32x16 y = at(x);
                 if (args.layer != 0) y = sub(y, splat(mean));
                 y = mul(y, splat(scale));
                 if (args.weight != nullptr) y = mul(y, at(args.weight));
                 if (args.bias != nullptr) y = add(y, at(args.bias));
                 return y;
               });
  }
  return Outcome::kDone;
}

Outcome quantize(const QuantizeArgs& args, Range blocks) {
  auto* out = reinterpret_cast<ActivationBlock*>(static_cast<uint8_t*>(args.out));
  for (uint64_t item = blocks.begin; item < blocks.end; ++item) {
    const f32x16 x[2] = {load(args.in + item * kBlock), load(args.in + item * kBlock + kWidth)};
    if (mask_bits(not_finite(x[0])) != 0 || mask_bits(not_finite(x[1])) != 0)
      return Outcome::kNotFinite;
    const float amax = fold_max(max(absolute(x[0]), absolute(x[1])));
    const bool zero = amax < 0x1p-100f;
    const float inverse = zero ? 0.0f : 127.0f / amax;
    ActivationBlock& block = out[item];
    block.scale = zero ? 0.0f : amax / 127.0f;
    for (int half = 0; half < 2; ++half) {
      // In class fast too the product is rounded before the sum, as codes are one rule for all: the
      // maximum, which it always is, keeps the compiler from fusing the two.
      const f32x16 scaled = max(mul(x[half], splat(inverse)), splat(-128.0f));
      const i32x16 q = sub(bits(add(scaled, splat(kRound))), splat(kRoundBits));
      store_i8(block.codes + kWidth * half, q);
      const int32_t sum = fold_add(q);
      block.half_sum[half] = static_cast<int16_t>(sum);
      block.half_start[half] = -128 * sum;
    }
    block.start = block.half_start[0] + block.half_start[1];
    block.scaled_sum = block.scale * static_cast<float>(block.half_sum[0] + block.half_sum[1]);
  }
  return Outcome::kDone;
}

Outcome rope(const RopeArgs& args, Range heads) {
  const uint64_t half = args.n_rotated / 2;
  const uint64_t first = args.interleaved != 0 ? 2 : 1;  // from one pair to the next
  const uint64_t second =
      args.interleaved != 0 ? 1 : half;  // from a pair's first value to its second
  for (uint64_t item = heads.begin; item < heads.end; ++item) {
    const auto position = static_cast<uint64_t>(args.positions[item / args.n_heads]);
    const float* cos = args.cos_table + position * half;
    const float* sin = args.sin_table + position * half;
    const float* x = args.in + item * args.head_width;
    float* out = args.out + item * args.head_width;
    for (uint64_t i = 0; i < half; ++i) {
      const float a = x[first * i];
      const float b = x[first * i + second];
      out[first * i] = a * cos[i] - b * sin[i];
      out[first * i + second] = a * sin[i] + b * cos[i];
    }
    if (out != x) {
      for (uint64_t i = args.n_rotated; i < args.head_width; ++i) out[i] = x[i];
    }
  }
  return Outcome::kDone;
}

Outcome elementwise(const ElementwiseArgs& args, Range groups) {
  const float* a = args.a;
  const float* b = args.b;
  float* out = args.out;
  const uint64_t n = args.n;
  const f32x16 p = splat(args.parameter);
  switch (args.function) {
    case Elementwise::kSilu:
      activate(a, b, out, n, groups, [](f32x16 x) { return silu(x); });
      break;
    case Elementwise::kGeluTanh:
      activate(a, b, out, n, groups, [](f32x16 x) { return gelu_tanh(x); });
      break;
    case Elementwise::kGeluErf:
      activate(a, b, out, n, groups, [](f32x16 x) { return gelu_erf(x); });
      break;
    case Elementwise::kAdd:
      each_group(out, n, groups, [&](auto at) { return add(at(a), at(b)); });
      break;
    case Elementwise::kScale:
      each_group(out, n, groups, [&](auto at) { return mul(at(a), p); });
      break;
    case Elementwise::kSoftcap:
      each_group(out, n, groups, [&](auto at) { return mul(p, tanh(div(at(a), p))); });
      break;
  }
  return Outcome::kDone;
}

Outcome argmax(const ArgmaxArgs& args, Range rows) {
  for (uint64_t row = rows.begin; row < rows.end; ++row) {
    const float* x = args.in + row * args.width;
    f32x16 most = splat(x[0]);
    uint32_t bad = 0;
    uint64_t i = 0;
    for (; i + kWidth <= args.width; i += kWidth) {
      const f32x16 v = load(x + i);
      bad |= mask_bits(not_finite(v));
      most = max(most, v);
    }
    for (; i < args.width; ++i) {
      bad |= mask_bits(not_finite(splat(x[i])));
      most = max(most, splat(x[i]));
    }
    if (bad != 0) return Outcome::kNotFinite;
    const float value = fold_max(most);
    uint64_t index = 0;
    while (x[index] != value) ++index;
    args.out[row] = static_cast<int32_t>(index);
  }
  return Outcome::kDone;
}

}  // namespace plumbline::cpu::PLUMB_CPU_VARIANT
