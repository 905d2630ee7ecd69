#include "core/diff/quantisation_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

namespace plumbline::diff {
namespace {

/// Folds n values by halves: first with those of the second half, and so on; n >= 1. Loops over
/// neighbours that do not depend on each other become vectors, and the result is the same on every
/// machine. scratch: n values, which may be `values` itself.
template <typename Join>
double fold(const double* values, size_t n, double* scratch, const Join& join) {
  const double* from = values;
  while (n > 1) {
    const size_t half = n / 2, rest = n - half;
    for (size_t i = 0; i < half; ++i) scratch[i] = join(from[i], from[rest + i]);
    if (rest > half) scratch[half] = from[half];
    from = scratch;
    n = rest;
  }
  return *from;
}

double sum_of(const double* values, size_t n, double* scratch) {
  return fold(values, n, scratch, [](double a, double b) { return a + b; });
}

/// e^x for x <= 0, to 1e-15 of it; below -700, where nothing is left to add, e^-700. Without
/// branches, so that a loop of it becomes vectors; libm's is a call for each value.
inline double exp_of_negative(double x) {
  // x = n ln 2 + r, |r| <= ln(2)/2; ln 2 in two parts, the first with zeros at its end, so that its
  // product with n is exact.
  constexpr double kLog2E = 1.44269504088896338700;
  constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;
  // Adding it leaves a whole number in the lowest bits.
  constexpr double kToWhole = 0x1.8p52;
  x = x < -700 ? -700 : x;
  const double shifted = x * kLog2E + kToWhole;
  const double n = shifted - kToWhole;
  const double r = (x - n * kLn2High) - n * kLn2Low;
  // Taylor's series; the first term left out is below 5e-18.
  double sum = 1.0 / 6227020800;
  sum = sum * r + 1.0 / 479001600;
  sum = sum * r + 1.0 / 39916800;
  sum = sum * r + 1.0 / 3628800;
  sum = sum * r + 1.0 / 362880;
  sum = sum * r + 1.0 / 40320;
  sum = sum * r + 1.0 / 5040;
  sum = sum * r + 1.0 / 720;
  sum = sum * r + 1.0 / 120;
  sum = sum * r + 1.0 / 24;
  sum = sum * r + 1.0 / 6;
  sum = sum * r + 0.5;
  sum = sum * r + 1;
  sum = sum * r + 1;
  const uint64_t exponent = (std::bit_cast<uint64_t>(shifted) - std::bit_cast<uint64_t>(kToWhole))
                            << 52;
  return std::bit_cast<double>(std::bit_cast<uint64_t>(sum) + exponent);
}

}  // namespace

struct RowScorer::Softmax {
  double largest;
  double sum;  // of e^(logit - the largest)
  double log_sum;  // ln of the sum of e^logit

  RowScore score(std::span<const float> logits, int32_t id) const {
    RowScore score;
    score.nll = log_sum - static_cast<double>(logits[static_cast<size_t>(id)]);
    score.p = std::exp(-score.nll);
    score.top = static_cast<int32_t>(
        std::find(logits.begin(), logits.end(), static_cast<float>(largest)) - logits.begin());
    return score;
  }
};

std::optional<RowScorer::Softmax> RowScorer::softmax(std::span<const float> logits) {
  const size_t n = logits.size();
  weights_.resize(n);
  terms_.resize(n);
  const float* const from = logits.data();
  double* const weights = weights_.data();
  double* const terms = terms_.data();
  for (size_t i = 0; i < n; ++i) weights[i] = from[i];
  Softmax all{};
  all.largest = fold(weights, n, terms, [](double a, double b) { return a > b ? a : b; });
  for (size_t i = 0; i < n; ++i) weights[i] = exp_of_negative(weights[i] - all.largest);
  all.sum = sum_of(weights, n, terms);
  all.log_sum = all.largest + std::log(all.sum);
  if (!std::isfinite(all.log_sum)) return std::nullopt;
  return all;
}

std::optional<RowScore> RowScorer::score(std::span<const float> logits, int32_t id) {
  const auto all = softmax(logits);
  if (!all) return std::nullopt;
  const RowScore score = all->score(logits, id);
  if (!std::isfinite(score.nll)) return std::nullopt;
  return score;
}

std::optional<PairScore> RowScorer::score_pair(std::span<const float> a, std::span<const float> b,
                                               int32_t id) {
  const auto all_b = softmax(b);
  const auto all_a = softmax(a);  // last: it leaves its weights
  if (!all_a || !all_b) return std::nullopt;
  PairScore pair{all_a->score(a, id), all_b->score(b, id)};
  const size_t n = a.size();
  const double apart = all_a->log_sum - all_b->log_sum;
  const double least_likely = all_a->log_sum - 16;
  const float* const row_a = a.data();
  const float* const row_b = b.data();
  double* const weights = weights_.data();
  double* const terms = terms_.data();
  for (size_t i = 0; i < n; ++i) {
    const double value_a = row_a[i], value_b = row_b[i];
    weights[i] *= (value_a - value_b) - apart;
    terms[i] = value_a > least_likely ? weights[i] : 0;
  }
  pair.kl_likely = sum_of(terms, n, terms) / all_a->sum;
  pair.kl = sum_of(weights, n, weights) / all_a->sum;
  if (!std::isfinite(pair.kl)) return std::nullopt;
  return pair;
}

Result<void> RowsScorer::score(std::span<const float> a, std::span<const float> b,
                               std::span<const int32_t> next, uint32_t chunk,
                               std::vector<Scored>& scored) {
  if (next.empty()) return {};
  const size_t first = scored.size(), n_rows = next.size(), width = a.size() / n_rows;
  const bool fits = width > 0 && a.size() == n_rows * width && (b.empty() || b.size() == a.size());
  if (!fits) {
    return Error{PLUMB_INCOMPATIBLE, "logits of " + std::to_string(n_rows) +
                                         " rows: " + std::to_string(a.size()) + " in A, " +
                                         std::to_string(b.size()) + " in B"};
  }
  const auto strange = std::find_if(next.begin(), next.end(), [&](int32_t id) {
    return id < 0 || static_cast<size_t>(id) >= width;
  });
  if (strange != next.end()) {
    return Error{PLUMB_INCOMPATIBLE, "id " + std::to_string(*strange) +
                                         " came next, expected one of the " +
                                         std::to_string(width) + " that have logits"};
  }
  scored.resize(first + n_rows);
  std::vector<char> is_finite(n_rows, 0);
  pool_->run(static_cast<uint32_t>(n_rows), [&](uint32_t thread, uint32_t row) {
    RowScorer& scorer = scorers_[thread];
    Scored& one = scored[first + row];
    one.chunk = chunk;
    const auto row_a = a.subspan(row * width, width);
    if (b.empty()) {
      if (const auto alone = scorer.score(row_a, next[row])) {
        one.row.a = *alone;
        is_finite[row] = 1;
      }
    } else if (const auto pair =
                   scorer.score_pair(row_a, b.subspan(row * width, width), next[row])) {
      one.row = *pair;
      is_finite[row] = 1;
    }
  });
  const auto bad = std::find(is_finite.begin(), is_finite.end(), 0);
  if (bad == is_finite.end()) return {};
  return Error{PLUMB_NUMERIC, "scored row " + std::to_string(bad - is_finite.begin()) +
                                  ": logits that are no finite numbers"};
}

}  // namespace plumbline::diff
