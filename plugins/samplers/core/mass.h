// mass.h: the masses of a row's candidates, and the draw by them. Nothing here allocates.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "plumb/ext/sampler.h"
#include "plumb/sdk/math.h"

namespace plumbline::samplers::core {

/// 2^(j / 128).
struct PowersOfTwo {
  static constexpr int kSteps = 128;

  constexpr PowersOfTwo() {
    for (int j = 0; j < kSteps; ++j)
      at[j] = math::detail::exp({j * (math::detail::kLn2Hi / kSteps),  // exact
                                 j * (math::detail::kLn2Lo / kSteps)});
  }
  double at[kSteps]{};
};
inline constexpr PowersOfTwo kPowersOfTwo;

/// e^x for x <= 0, where it is at least e^-700; below that 0, since no sum of as many as there are
/// ids would show it beside the largest, which is 1. Without branches, so that a compiler can take
/// several at once. Error 1.1 ULP.
/// Source: Tang 1989, "Table-driven implementation of the exponential function".
constexpr double mass_at(double x) {
  constexpr double kLowest = -700;
  constexpr int kSteps = PowersOfTwo::kSteps;
  // The integer k stands in the low bits of k + kMagic.
  constexpr double kMagic = 0x1.8p52;
  const double inside = x < kLowest ? kLowest : x;
  const double shifted = inside * (kSteps * 0x1.71547652b82fep0) + kMagic;
  const double k = shifted - kMagic;
  // x = k ln(2) / 128 + r with |r| <= ln(2) / 256; the next term of e^r is below 2^-60.
  const double r =
      (inside - k * (math::detail::kLn2Hi / kSteps)) - k * (math::detail::kLn2Lo / kSteps);
  const double square = r * r;
  const double above_1 =
      r + square * ((1. / 2 + r * (1. / 6)) + square * (1. / 24 + r * (1. / 120)));
  const auto bits = std::bit_cast<uint64_t>(shifted);
  const double power = kPowersOfTwo.at[bits % kSteps];
  const double scale = std::bit_cast<double>((bits / kSteps << 52) + (uint64_t{1023} << 52));
  return x < kLowest ? 0 : (power + power * above_1) * scale;
}

/// e^(logit - largest): the mass of a candidate, to a common factor.
constexpr double weight(float logit, float largest) {
  return mass_at(static_cast<double>(logit) - static_cast<double>(largest));
}

/// Calls visit(first, weights, n) for the weights of n logits at a time, in order.
template <typename Visit>
void visit_weights(const float* logits, uint32_t n, float largest, Visit visit) {
  constexpr uint32_t kAtOnce = 256;
  double weights[kAtOnce];
  for (uint32_t first = 0; first < n; first += kAtOnce) {
    const uint32_t n_here = std::min(kAtOnce, n - first);
    const float* const here = logits + first;
    for (size_t i = 0; i < n_here; ++i) weights[i] = weight(here[i], largest);
    visit(first, weights, n_here);
  }
}

/// The mass of a row as a distribution: probability p of a logit z is e^(z - largest) / total, so
/// -ln p = ln_total - (z - largest). Sums run in the order in which the candidates lie.
struct Distribution {
  float largest = 0;
  double total = 0;
  double ln_total = 0;
  double entropy = 0;  // sum of -p ln p

  /// largest: as find_best tells. weights: null, or room for the n weights.
  static Distribution of(const plumb_candidates& candidates, float largest,
                         double* weights = nullptr);
  /// -ln p; infinite for minus infinity.
  double surprise(float logit) const {
    return ln_total - (static_cast<double>(logit) - static_cast<double>(largest));
  }
};

/// Inverse CDF: picks the first candidate, as they lie, whose cumulative mass exceeds coin times
/// the total. coin: in [0, 1). sums: room for n.
void draw_by_mass(plumb_candidates& candidates, float largest, double coin, double* sums);

}  // namespace plumbline::samplers::core
