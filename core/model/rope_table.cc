#include "core/model/rope_table.h"

#include <algorithm>
#include <cmath>

#include "plumb/sdk/math.h"

namespace plumbline::model {
namespace {

constexpr double kPi = 3.14159265358979323846;

// YaRN: dimensions below `low` keep their frequency, those above `high` are interpolated, a ramp
// lies between.
struct YarnRange {
  double low;
  double high;
};

YarnRange yarn_range(const Rope& rope) {
  const auto dimension_of = [&](double n_rotations) {
    return rope.n_rotated * math::log(rope.original_context / (n_rotations * 2 * kPi)) /
           (2 * math::log(rope.base));
  };
  YarnRange range{std::floor(dimension_of(rope.beta_fast)),
                  std::ceil(dimension_of(rope.beta_slow))};
  range.low = std::max(range.low, 0.0);
  range.high = std::min(range.high, rope.n_rotated - 1.0);
  if (range.low == range.high) range.high += 0.001;  // as transformers: no division by zero
  return range;
}

double llama3_frequency(const Rope& rope, double frequency) {
  const double wavelength = 2 * kPi / frequency;
  const double low_wavelength = rope.original_context / rope.low_freq_factor;
  const double high_wavelength = rope.original_context / rope.high_freq_factor;
  if (wavelength < high_wavelength) return frequency;
  if (wavelength > low_wavelength) return frequency / rope.factor;
  const double smooth = (rope.original_context / wavelength - rope.low_freq_factor) /
                        (rope.high_freq_factor - rope.low_freq_factor);
  return (1 - smooth) * frequency / rope.factor + smooth * frequency;
}

}  // namespace

std::vector<float> inverse_frequencies(const Rope& rope, std::span<const float> factors) {
  const uint32_t n = rope.n_rotated / 2;
  std::vector<float> frequencies(n);
  const YarnRange yarn = rope.scaling == Rope::Scaling::yarn ? yarn_range(rope) : YarnRange{};
  for (uint32_t i = 0; i < n; ++i) {
    double frequency = 1.0 / math::pow(rope.base, 2.0 * i / rope.n_rotated);
    switch (rope.scaling) {
      case Rope::Scaling::none:
        break;
      case Rope::Scaling::factors:
        frequency /= factors[i];
        break;
      case Rope::Scaling::linear:
        frequency /= rope.factor;
        break;
      case Rope::Scaling::llama3:
        frequency = llama3_frequency(rope, frequency);
        break;
      case Rope::Scaling::yarn: {
        const double ramp = std::clamp((i - yarn.low) / (yarn.high - yarn.low), 0.0, 1.0);
        frequency = frequency / rope.factor * ramp + frequency * (1 - ramp);
        break;
      }
    }
    frequencies[i] = static_cast<float>(frequency);
  }
  return frequencies;
}

void fill_rope_rows(std::span<const float> frequencies, double attention_factor,
                    uint32_t first_position, uint32_t n_rows, float* cosines, float* sines) {
  for (uint32_t row = 0; row < n_rows; ++row) {
    const auto position = static_cast<float>(first_position + row);
    for (size_t i = 0; i < frequencies.size(); ++i) {
      const float angle = position * frequencies[i];
      *cosines++ = static_cast<float>(math::cos(angle) * attention_factor);
      *sines++ = static_cast<float>(math::sin(angle) * attention_factor);
    }
  }
}

}  // namespace plumbline::model
