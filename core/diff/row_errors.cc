#include "core/diff/row_errors.h"

#include <algorithm>
#include <cstring>

// One source for what every x86-64 has and for wider vectors: the host takes no flags for them.
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_THREAD__)
#define PLUMB_EACH_WIDTH __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define PLUMB_EACH_WIDTH
#endif

namespace plumbline::diff {
namespace {

// So many sums side by side on every machine: the order of a sum is part of what is reported.
constexpr size_t kLanes = 8;
using Floats [[gnu::vector_size(4 * kLanes)]] = float;
using Doubles [[gnu::vector_size(8 * kLanes)]] = double;
using Words [[gnu::vector_size(4 * kLanes)]] = int32_t;

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

template <typename Vector>
auto sum(const Vector& lanes) {
  auto all = lanes[0];
  for (size_t lane = 1; lane < kLanes; ++lane) all += lanes[lane];
  return all;
}

// A row's values, a vector at a time; behind its end there are zeros. No function works on vectors
// here: it would be made for the narrowest ones.
class Reader {
 public:
  Reader(const float* row, size_t n) : row_(row), n_(n) {}

  const float* at(size_t i) {
    if (n_ - i >= kLanes) return row_ + i;
    std::copy(row_ + i, row_ + n_, end_);
    return end_;
  }

 private:
  const float* row_;
  size_t n_;
  float end_[kLanes] = {};
};

PLUMB_EACH_WIDTH
double sum_of_squares(const float* a, size_t n) {
  Reader from_a(a, n);
  Doubles sums{};
  for (size_t i = 0; i < n; i += kLanes) {
    Floats x;
    std::memcpy(&x, from_a.at(i), sizeof x);
    const Doubles wide = __builtin_convertvector(x, Doubles);
    sums += wide * wide;
  }
  return sum(sums);
}

PLUMB_EACH_WIDTH
RowSums all_sums(const float* a, const float* forced, const float* free, size_t n) {
  Reader from_a(a, n), from_forced(forced, n), from_free(free, n);
  Doubles of_a{}, introduced{}, inherited{}, total{};
  Words n_equal{};  // negative
  for (size_t i = 0; i < n; i += kLanes) {
    Floats x, y, z;
    std::memcpy(&x, from_a.at(i), sizeof x);
    std::memcpy(&y, from_forced.at(i), sizeof y);
    std::memcpy(&z, from_free.at(i), sizeof z);
    const Doubles in_a = __builtin_convertvector(x, Doubles);
    const Doubles in_forced = __builtin_convertvector(y, Doubles);
    const Doubles in_free = __builtin_convertvector(z, Doubles);
    const Doubles made = in_forced - in_a, brought = in_free - in_forced, both = in_free - in_a;
    of_a += in_a * in_a;
    introduced += made * made;
    inherited += brought * brought;
    total += both * both;
    Words bits_a, bits_forced;
    std::memcpy(&bits_a, &x, sizeof x);
    std::memcpy(&bits_forced, &y, sizeof y);
    n_equal += bits_a == bits_forced;
  }
  const size_t n_padded = (n + kLanes - 1) / kLanes * kLanes;
  const auto n_same = static_cast<size_t>(-int64_t{sum(n_equal)});
  return {sum(of_a), sum(introduced), sum(inherited), sum(total), n_padded - n_same};
}

}  // namespace

RowSums compare_row(std::span<const float> a, std::span<const float> forced,
                    std::span<const float> free) {
  const bool is_forced_equal = same_bits(a, forced);
  const bool is_free_equal = free.empty() || same_bits(forced, free);
  if (is_forced_equal && is_free_equal) return {.a = sum_of_squares(a.data(), a.size())};
  RowSums sums =
      all_sums(a.data(), forced.data(), free.empty() ? forced.data() : free.data(), a.size());
  if (is_forced_equal) sums.introduced = 0;
  if (is_free_equal) sums.inherited = 0;
  if (free.empty() || same_bits(a, free)) sums.total = 0;
  return sums;
}

}  // namespace plumbline::diff
