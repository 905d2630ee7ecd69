#include "core/diff/row_errors.h"

#include <bit>
#include <cstring>

namespace plumbline::diff {
namespace {

// So many sums side by side, for the compiler to put in registers.
constexpr size_t kLanes = 8;

struct Lanes {
  double of[kLanes] = {};

  double sum() const {
    double all = 0;
    for (const double lane : of) all += lane;
    return all;
  }
};

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

double squared_distance(std::span<const float> a, std::span<const float> b) {
  Lanes sums;
  size_t i = 0;
  for (; i + kLanes <= a.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const double difference = double{b[i + lane]} - double{a[i + lane]};
      sums.of[lane] += difference * difference;
    }
  }
  for (; i < a.size(); ++i) {
    const double difference = double{b[i]} - double{a[i]};
    sums.of[0] += difference * difference;
  }
  return sums.sum();
}

uint64_t count_different_bits(std::span<const float> a, std::span<const float> b) {
  uint32_t n = 0;
  for (size_t i = 0; i < a.size(); ++i)
    n += std::bit_cast<uint32_t>(a[i]) != std::bit_cast<uint32_t>(b[i]);
  return n;
}

}  // namespace

double sum_of_squares(std::span<const float> row) {
  Lanes sums;
  size_t i = 0;
  for (; i + kLanes <= row.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const double value = row[i + lane];
      sums.of[lane] += value * value;
    }
  }
  for (; i < row.size(); ++i) sums.of[0] += double{row[i]} * row[i];
  return sums.sum();
}

RowSums compare_row(std::span<const float> a, std::span<const float> forced,
                    std::span<const float> free) {
  RowSums sums;
  const bool is_forced_equal = same_bits(a, forced);
  const bool is_free_equal = free.empty() || same_bits(forced, free);
  if (is_forced_equal && is_free_equal) return sums;
  sums.a = sum_of_squares(a);
  if (!is_forced_equal) {
    sums.n_bits_differ = count_different_bits(a, forced);
    sums.introduced = squared_distance(a, forced);
  }
  if (free.empty()) return sums;
  if (!is_free_equal) sums.inherited = squared_distance(forced, free);
  sums.total = is_free_equal     ? sums.introduced
               : is_forced_equal ? sums.inherited
                                 : squared_distance(a, free);
  return sums;
}

}  // namespace plumbline::diff
