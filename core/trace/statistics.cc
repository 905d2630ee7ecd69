#include "core/trace/statistics.h"

#include <algorithm>
#include <cmath>

namespace plumbline::trace {

void Statistics::add(std::span<const float> values) {
  for (const float value : values) {
    if (std::isnan(value)) {
      ++n_nan_;
    } else if (std::isinf(value)) {
      ++n_infinite_;
    } else {
      ++n_finite_;
      n_zeros_ += value == 0 ? 1 : 0;
      min_ = std::min(min_, value);
      max_ = std::max(max_, value);
      const double wide = value;
      sum_ += wide;
      sum_of_squares_ += wide * wide;
    }
  }
}

double Statistics::rms() const {
  return n_finite_ == 0 ? 0 : std::sqrt(sum_of_squares_ / static_cast<double>(n_finite_));
}

std::vector<float> fingerprint(std::span<const float> row) {
  std::vector<float> values;
  if (row.empty()) return values;
  values.reserve(kFingerprintValues);
  for (size_t i = 0; i < kFingerprintValues; ++i)
    values.push_back(row[i * (row.size() - 1) / (kFingerprintValues - 1)]);
  return values;
}

}  // namespace plumbline::trace
