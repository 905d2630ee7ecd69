// statistics.h: what a matrix looks like, in a few numbers.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace plumbline::trace {

/// Of all values that were added. Extremes, mean and RMS are those of the finite ones, summed in
/// f64 in the order in which they came.
class Statistics {
 public:
  void add(std::span<const float> values);

  uint64_t n_values() const { return n_finite_ + n_nan_ + n_infinite_; }
  uint64_t n_nan() const { return n_nan_; }
  uint64_t n_infinite() const { return n_infinite_; }
  uint64_t n_zeros() const { return n_zeros_; }  // both signs
  // 0 where no value is finite.
  double min() const { return n_finite_ == 0 ? 0 : min_; }
  double max() const { return n_finite_ == 0 ? 0 : max_; }
  double mean() const { return n_finite_ == 0 ? 0 : sum_ / static_cast<double>(n_finite_); }
  double rms() const;

 private:
  uint64_t n_finite_ = 0, n_nan_ = 0, n_infinite_ = 0, n_zeros_ = 0;
  float min_ = std::numeric_limits<float>::infinity();
  float max_ = -std::numeric_limits<float>::infinity();
  double sum_ = 0, sum_of_squares_ = 0;
};

inline constexpr size_t kFingerprintValues = 16;

/// kFingerprintValues values of a row, at the columns floor(i * (width - 1) / 15).
std::vector<float> fingerprint(std::span<const float> row);

}  // namespace plumbline::trace
