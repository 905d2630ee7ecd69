// math.h: exp, log, pow, sin and cos in f64 with the same bits on every machine.
//
// Only IEEE additions, multiplications and divisions in a fixed order: no libm, no FMA. Compile
// with -ffp-contract=off where the processor has fused multiply-add, and never with -ffast-math.
// Error is the largest that was seen in 5 million random arguments against 80-bit arithmetic, in
// units of the last place of the result; the tests repeat it on fewer, and on tables made by
// mpmath.
#pragma once

#include <bit>
#include <cfloat>
#include <cstdint>
#include <limits>

namespace plumbline::math {

static_assert(FLT_EVAL_METHOD == 0, "f64 expressions must be rounded to f64 at each step");

namespace detail {

/// An unevaluated sum: hi is the value rounded to f64, lo what is left.
struct Pair {
  double hi, lo;
};

/// a + b without error. Source: Knuth, TAOCP 2, 4.2.2, theorem B.
constexpr Pair two_sum(double a, double b) {
  const double hi = a + b;
  const double b_part = hi - a;
  return {hi, (a - (hi - b_part)) + (b - b_part)};
}

/// a * b without error, for factors below 2^996. Source: Dekker 1971.
constexpr Pair two_product(double a, double b) {
  constexpr double kSplit = 0x1p27 + 1;
  const double a_big = a * kSplit, b_big = b * kSplit;
  const double a_hi = a_big - (a_big - a), b_hi = b_big - (b_big - b);
  const double a_lo = a - a_hi, b_lo = b - b_hi;
  const double hi = a * b;
  return {hi, ((a_hi * b_hi - hi) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo};
}

/// The nearest integer, ties to even. |x| < 2^51.
constexpr double nearest(double x) {
  constexpr double kMagic = 0x1.8p52;
  return (x + kMagic) - kMagic;
}

constexpr double power_of_two(int64_t exponent) {  // of a normal number
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

/// c[0] + x c[1] + x^2 c[2] + ..., from the far end.
template <int n>
constexpr double polynomial(double x, const double (&c)[n]) {
  double sum = c[n - 1];
  for (int i = n - 2; i >= 0; --i) sum = sum * x + c[i];
  return sum;
}

// ln 2 in two parts; the first has 32 bits, so that its products with exponents are exact.
inline constexpr double kLn2Hi = 0x1.62e42feep-1;
inline constexpr double kLn2Lo = 0x1.a39ef35793c76p-33;

/// e^(x.hi + x.lo).
constexpr double exp(Pair x) {
  if (!(x.hi <= 709.79)) return x.hi > 0 ? std::numeric_limits<double>::infinity() : x.hi;
  if (x.hi < -745.14) return 0;
  // x = k ln 2 + r with |r| <= ln(2) / 2; then e^r by its own series: the next term is below 2^-60.
  constexpr double kSeries[] = {1. / 2,       1. / 6,        1. / 24,        1. / 120,
                                1. / 720,     1. / 5040,     1. / 40320,     1. / 362880,
                                1. / 3628800, 1. / 39916800, 1. / 479001600, 1. / 6227020800};
  const double k = nearest(x.hi * 0x1.71547652b82fep0);
  const Pair r = two_sum(x.hi - k * kLn2Hi, x.lo - k * kLn2Lo);
  const double tail = r.lo + r.hi * r.hi * polynomial(r.hi, kSeries);
  const Pair sum = two_sum(1, r.hi);
  const double mantissa = sum.hi + (sum.lo + tail);
  // Two steps, so that a subnormal result is rounded once, in the second.
  const auto exponent = static_cast<int64_t>(k);
  const int64_t half = exponent / 2;
  return mantissa * power_of_two(half) * power_of_two(exponent - half);
}

/// ln x to about 2^-63, for finite x > 0.
constexpr Pair log(double x) {
  int64_t exponent = 0;
  if (x < std::numeric_limits<double>::min()) {  // subnormal
    x *= 0x1p54;
    exponent = -54;
  }
  // x = 2^exponent m with m in [sqrt(1/2), sqrt(2)).
  const auto bits = std::bit_cast<uint64_t>(x);
  const uint64_t above_root = (bits & 0xfffffffffffff) >= 0x6a09e667f3bcd ? 1 : 0;
  exponent += static_cast<int64_t>(bits >> 52) - 1023 + static_cast<int64_t>(above_root);
  const double m = std::bit_cast<double>((bits & 0xfffffffffffff) | (1023 - above_root) << 52);
  // ln m = 2 atanh(s), s = (m - 1) / (m + 1), |s| < 0.172: 2 (s + s^3 / 3 + ...); the next term is
  // below 2^-60 s.
  constexpr double kSeries[] = {1. / 3,  1. / 5,  1. / 7,  1. / 9,  1. / 11, 1. / 13,
                                1. / 15, 1. / 17, 1. / 19, 1. / 21, 1. / 23};
  const double f = m - 1;  // exact
  const Pair denominator = two_sum(m, 1);
  const double s = f / denominator.hi;
  const Pair product = two_product(s, denominator.hi);
  const double s_lo = (((f - product.hi) - product.lo) - s * denominator.lo) / denominator.hi;
  const double square = s * s;
  const double tail = s * square * polynomial(square, kSeries) + s_lo;
  const auto k = static_cast<double>(exponent);
  const Pair sum = two_sum(k * kLn2Hi, 2 * s);
  const double lo = sum.lo + (2 * tail + k * kLn2Lo);
  return two_sum(sum.hi, lo);
}

/// x = k pi / 2 + rest, |rest| <= pi / 4.
struct Quadrant {
  Pair rest;
  int64_t k;
};

constexpr double kMaxAngle = 0x1p20;

/// For |x| <= 2^20. pi / 2 in four parts, of which three have 33 bits: their products with k < 2^20
/// are exact. Source: Cody and Waite 1980.
constexpr Quadrant reduce(double x) {
  const double k = nearest(x * 0x1.45f306dc9c883p-1);
  const Pair first = two_sum(x - k * 0x1.921fb544p0, -(k * 0x1.0b4611a6p-34));
  const Pair second = two_sum(first.hi, -(k * 0x1.3198a2ep-69));
  const double lo = (first.lo + second.lo) - k * 0x1.b839a252049c1p-104;
  return {two_sum(second.hi, lo), static_cast<int64_t>(k)};
}

constexpr double sin_rest(Pair x) {
  constexpr double kSeries[] = {
      -1. / 6,        1. / 120,         -1. / 5040,           1. / 362880,
      -1. / 39916800, 1. / 6227020800., -1. / 1307674368000., 1. / 355687428096000.};
  const double square = x.hi * x.hi;
  return x.hi + (x.hi * square * polynomial(square, kSeries) + x.lo * (1 - 0.5 * square));
}

constexpr double cos_rest(Pair x) {
  constexpr double kSeries[] = {
      1. / 24,         -1. / 720,          1. / 40320,           -1. / 3628800,
      1. / 479001600., -1. / 87178291200., 1. / 20922789888000., -1. / 6402373705728000.};
  const double square = x.hi * x.hi;
  const Pair head = two_sum(1, -0.5 * square);
  return head.hi + (head.lo + (square * square * polynomial(square, kSeries) - x.hi * x.lo));
}

constexpr bool in_range(double x) {
  return x >= -kMaxAngle && x <= kMaxAngle;
}

}  // namespace detail

/// e^x. Overflows to infinity and underflows through the subnormal numbers to 0; NaN gives NaN.
/// Error   0.68 ULP; 0.79 ULP where the result is subnormal.
constexpr double exp(double x) {
  return detail::exp({x, 0});
}

/// The natural logarithm. ln 0 is minus infinity; NaN for x < 0 and NaN.
/// Error   0.55 ULP.
constexpr double log(double x) {
  if (x > 0 && x <= std::numeric_limits<double>::max()) return detail::log(x).hi;
  if (x == 0) return -std::numeric_limits<double>::infinity();
  return x > 0 ? x : std::numeric_limits<double>::quiet_NaN();
}

/// x^y for finite x > 0 and finite y; NaN otherwise.
/// Error   0.70 ULP for 2 <= x <= 10^7 and -1 <= y <= 0, the inverse frequencies of RoPE; it grows
/// with |y ln x|, to
///         2.4 ULP at 460.
constexpr double pow(double x, double y) {
  constexpr double kMax = std::numeric_limits<double>::max();
  if (!(x > 0 && x <= kMax && y >= -kMax && y <= kMax))
    return std::numeric_limits<double>::quiet_NaN();
  if (x == 1) return 1;  // the products below are exact only for y below 2^996
  const detail::Pair ln = detail::log(x);
  const double rough = y * ln.hi;
  if (rough > 710) return std::numeric_limits<double>::infinity();
  if (rough < -746) return 0;
  const detail::Pair product = detail::two_product(y, ln.hi);
  return detail::exp(detail::two_sum(product.hi, product.lo + y * ln.lo));
}

/// For |x| <= 2^20; NaN beyond, where the reduction would lose bits.
/// Error   0.79 ULP.
constexpr double sin(double x) {
  if (!detail::in_range(x)) return std::numeric_limits<double>::quiet_NaN();
  const auto [rest, k] = detail::reduce(x);
  const double value = (k & 1) != 0 ? detail::cos_rest(rest) : detail::sin_rest(rest);
  return (k & 2) != 0 ? -value : value;
}

/// For |x| <= 2^20; NaN beyond.
/// Error   0.78 ULP.
constexpr double cos(double x) {
  if (!detail::in_range(x)) return std::numeric_limits<double>::quiet_NaN();
  const auto [rest, k] = detail::reduce(x);
  const double value = (k & 1) != 0 ? detail::sin_rest(rest) : detail::cos_rest(rest);
  return ((k + 1) & 2) != 0 ? -value : value;
}

}  // namespace plumbline::math
