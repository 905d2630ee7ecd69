// math.h: exp, tanh and erf of class canonical-1. These expressions are the definition: every
// instruction set runs them, in this order, without contraction. Worst errors seen over arguments
// of all sizes, in units in the last place, and the bounds that tests/unit/cpu/math_test.cc
// asserts: exp 0.96 (1.0), tanh 1.27 (1.8), erf 1.50 (1.6).
#pragma once

#include "backends/cpu/simd/contract.h"

namespace plumbline::cpu::PLUMB_CPU_VARIANT {

using namespace simd;

/// Adding and taking away 1.5 * 2^23 rounds |x| < 2^22 to an integer, half to even.
inline constexpr float kRound = 12582912.0f;
inline constexpr int32_t kRoundBits = 0x4b400000;

/// e^x. Overflows to infinity above 88.73, to subnormals below -87.34 and to +0 below -104;
/// exp(-inf) = +0. Source: the range reduction and polynomial of Cephes expf (S. Moshier).
PLUMB_INLINE f32x16 exp(f32x16 x) {
  const f32x16 high = splat(89.0f);
  const f32x16 low = splat(-104.0f);
  const i32x16 too_high = greater(x, high);
  const i32x16 too_low = greater(low, x);
  const f32x16 clamped = select(too_high, high, select(too_low, low, x));
  const f32x16 shifted = add(mul(clamped, splat(1.44269504088896341f)), splat(kRound));
  const f32x16 n = sub(shifted, splat(kRound));
  const f32x16 r = sub(sub(clamped, mul(n, splat(0.693359375f))), mul(n, splat(-2.12194440e-4f)));

  f32x16 p = splat(1.9875691500e-4f);
  p = add(mul(p, r), splat(1.3981999507e-3f));
  p = add(mul(p, r), splat(8.3334519073e-3f));
  p = add(mul(p, r), splat(4.1665795894e-2f));
  p = add(mul(p, r), splat(1.6666665459e-1f));
  p = add(mul(p, r), splat(5.0000001201e-1f));
  p = add(add(mul(p, mul(r, r)), r), splat(1.0f));

  // 2^n in two factors, so that results down to the smallest subnormal are rounded once.
  const i32x16 exponent = sub(bits(shifted), splat(kRoundBits));
  const i32x16 half = shift_right(exponent, 1);
  const i32x16 rest = sub(exponent, half);
  const f32x16 factor_1 = from_bits(shift_left(add(half, splat(int32_t{127})), 23));
  const f32x16 factor_2 = from_bits(shift_left(add(rest, splat(int32_t{127})), 23));
  const f32x16 y = mul(mul(p, factor_1), factor_2);
  return select(too_high, splat(__builtin_inff()), select(too_low, splat(0.0f), y));
}

PLUMB_INLINE f32x16 absolute(f32x16 x) {
  return from_bits(bit_and(bits(x), splat(int32_t{0x7fffffff})));
}
PLUMB_INLINE f32x16 with_sign_of(f32x16 magnitude, f32x16 sign) {
  return from_bits(bit_or(bits(magnitude), bit_and(bits(sign), splat(INT32_MIN))));
}

/// tanh: an odd polynomial for |x| <= 0.625, else 1 - 2 / (exp(2|x|) + 1). Source: Cephes tanhf.
PLUMB_INLINE f32x16 tanh(f32x16 x) {
  const f32x16 a = absolute(x);
  const f32x16 z = mul(x, x);
  f32x16 p = splat(-5.70498872745e-3f);
  p = add(mul(p, z), splat(2.06390887954e-2f));
  p = add(mul(p, z), splat(-5.37397155531e-2f));
  p = add(mul(p, z), splat(1.33314422036e-1f));
  p = add(mul(p, z), splat(-3.33332819422e-1f));
  const f32x16 small = add(mul(mul(p, z), x), x);
  const f32x16 large = sub(splat(1.0f), div(splat(2.0f), add(exp(add(a, a)), splat(1.0f))));
  return select(greater(a, splat(0.625f)), with_sign_of(large, x), small);
}

/// erf: an odd polynomial for |x| <= 0.925, else 1 - exp(-g(|x|)), g = -log(erfc) as a polynomial
/// up to 4, where erf rounds to 1. Source: own weighted least-squares fits on Chebyshev nodes.
PLUMB_INLINE f32x16 erf(f32x16 x) {
  const f32x16 a = absolute(x);
  const f32x16 z = mul(x, x);
  f32x16 p = splat(-0.000599465508f);
  p = add(mul(p, z), splat(0.00499430997f));
  p = add(mul(p, z), splat(-0.0267677046f));
  p = add(mul(p, z), splat(0.112818569f));
  p = add(mul(p, z), splat(-0.376124978f));
  p = add(mul(p, z), splat(0.128379151f));
  const f32x16 small = add(mul(p, x), x);

  const f32x16 t = select(greater(a, splat(4.0f)), splat(4.0f), a);
  f32x16 g = splat(-0.000180138974f);
  g = add(mul(g, t), splat(0.00290008006f));
  g = add(mul(g, t), splat(-0.0216991529f));
  g = add(mul(g, t), splat(0.10291709f));
  g = add(mul(g, t), splat(0.638255596f));
  g = add(mul(g, t), splat(1.12708247f));
  g = add(mul(g, t), splat(0.000329640112f));
  const f32x16 large = sub(splat(1.0f), exp(sub(splat(0.0f), g)));
  return select(greater(a, splat(0.925f)), with_sign_of(large, x), small);
}

/// Lanes i < n all ones.
PLUMB_INLINE i32x16 first_lanes(int64_t n) {
  static constexpr int32_t kIota[kWidth] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return greater(splat(static_cast<int32_t>(n > kWidth ? kWidth : n)), load(kIota));
}

/// The first n < 16 numbers, then zeros; and back.
PLUMB_INLINE f32x16 load_first(const float* from, uint64_t n) {
  float v[kWidth] = {};
  for (uint64_t i = 0; i < n; ++i) v[i] = from[i];
  return load(v);
}
PLUMB_INLINE void store_first(float* to, f32x16 x, uint64_t n) {
  float v[kWidth];
  store(v, x);
  for (uint64_t i = 0; i < n; ++i) to[i] = v[i];
}

/// Lanes with NaN or infinity.
PLUMB_INLINE i32x16 not_finite(f32x16 x) {
  return greater(bit_and(bits(x), splat(int32_t{0x7fffffff})), splat(int32_t{0x7f7fffff}));
}

}  // namespace plumbline::cpu::PLUMB_CPU_VARIANT
