#include "core/diff/signatures/fit.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>

#include "core/diff/signatures/signature.h"

namespace plumbline::diff {
namespace {

Turns turns_of(const Suspect& suspect, const OpInputs& inputs, const Matrix& seen) {
  const RopeParameters how = suspect.rope();
  const Matrix plain = suspect.rotated(inputs, how);
  Turns turns{integers_of(inputs[1]), how.n_rotated / 2, {}};
  const bool is_half = how.pairing == PLUMB_ROPE_HALF;
  for (size_t t = 0; t < plain.n_rows; ++t) {
    for (size_t i = 0; i < turns.n_pairs; ++i) {
      std::complex<double> sum = 0;
      for (size_t head = 0; head < how.n_heads; ++head) {
        const size_t at = head * how.head_width;
        const size_t first = at + (is_half ? i : 2 * i);
        const size_t second = at + (is_half ? i + turns.n_pairs : 2 * i + 1);
        sum += std::complex(seen.row(t)[first], seen.row(t)[second]) *
               std::complex(plain.row(t)[first], -plain.row(t)[second]);
      }
      turns.by.push_back(std::arg(sum));
    }
  }
  return turns;
}

}  // namespace

std::vector<double> likely_numbers(double estimate, double uncertainty) {
  std::vector<double> numbers;
  if (estimate != 0 && std::isfinite(estimate)) {
    const double unit = std::pow(10, std::floor(std::log10(std::abs(estimate))));
    double step = unit;
    for (int digits = 1; digits <= 6; ++digits, step /= 10) {
      const double rounded = std::round(estimate / step) * step;
      const bool is_near = std::abs(rounded - estimate) <= uncertainty * std::abs(estimate);
      if (is_near && (numbers.empty() || numbers.back() != rounded)) numbers.push_back(rounded);
    }
  }
  numbers.push_back(estimate);
  return numbers;
}

Turns measured_turns(const Suspect& suspect) {
  return turns_of(suspect, suspect.inputs(), suspect.seen());
}

std::optional<Turns> measured_turns_at(const Suspect& suspect, int32_t position) {
  // Tables are filled as far as positions have come.
  if (position > suspect.last_position()) return std::nullopt;
  OpInputs inputs = suspect.inputs();
  std::fill(inputs[0].values.begin(), inputs[0].values.end(), 1.0f);
  std::fill(inputs[1].values.begin(), inputs[1].values.end(), std::bit_cast<float>(position));
  const std::optional<Matrix> seen = suspect.run(inputs);
  if (!seen) return std::nullopt;
  return turns_of(suspect, inputs, *seen);
}

std::vector<int64_t> offsets_of(const Suspect& suspect) {
  const std::vector<float> frequencies = suspect.rope().frequencies;
  const Turns turns = measured_turns(suspect);
  double farthest = 0;
  for (const int32_t position : turns.positions)
    farthest = std::max(farthest, std::abs(static_cast<double>(position)));
  const double largest = INT32_MAX - farthest;  // what is added leaves positions
  std::vector<int64_t> offsets;
  // A slow pair tells a large offset from a small one, a slower one a larger from that.
  for (const double slow : {1e-1, 1e-3, 1e-5}) {
    size_t pair = 0;
    while (pair + 1 < frequencies.size() && frequencies[pair] > slow) ++pair;
    for (size_t t = 0; t < turns.positions.size(); ++t) {
      // No number where the pair does not turn at all.
      const double measured = std::round(turns.at(t, pair) / frequencies[pair]);
      if (!(std::abs(measured) <= largest)) continue;
      const auto offset = static_cast<int64_t>(measured);
      if (offset != 0 && std::ranges::find(offsets, offset) == offsets.end())
        offsets.push_back(offset);
    }
  }
  constexpr size_t kMost = 32;  // of a fault that is none of positions, rows speak for anything
  if (offsets.size() > kMost) offsets.resize(kMost);
  return offsets;
}

}  // namespace plumbline::diff
