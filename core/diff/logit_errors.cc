#include "core/diff/logit_errors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/top_ids.h"

namespace plumbline::diff {
namespace {

constexpr size_t kTop = 10;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// top: the first ids of the row, in order.
uint32_t rank_of(std::span<const float> logits, std::span<const int32_t> top, int32_t id) {
  const auto found = std::find(top.begin(), top.end(), id);
  if (found != top.end()) return static_cast<uint32_t>(found - top.begin());
  uint32_t rank = 0;
  for (size_t i = 0; i < logits.size(); ++i)
    rank += comes_before(logits, static_cast<int32_t>(i), id) ? 1 : 0;
  return rank;
}

// The largest change of the gap between two of some ids.
class Spread {
 public:
  void add(double a, double b) {
    const double change = b - a;
    lowest_ = std::min(lowest_, std::isnan(change) ? -kInfinity : change);
    highest_ = std::max(highest_, std::isnan(change) ? kInfinity : change);
  }
  double value() const { return highest_ - lowest_; }

 private:
  double lowest_ = kInfinity, highest_ = -kInfinity;
};

// In sigma; where the row has none, any change is out of scale.
double in_sigma(double value, double sigma) {
  if (value == 0) return 0;
  const double scaled = value / sigma;
  return std::isfinite(scaled) ? scaled : kInfinity;
}

double log_sum_exp(std::span<const float> row) {
  const double largest = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (const float value : row) sum += std::exp(value - largest);
  return largest + std::log(sum);
}

double kl_divergence(std::span<const float> a, std::span<const float> b) {
  const double all_a = log_sum_exp(a), all_b = log_sum_exp(b);
  double kl = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double log_p = a[i] - all_a;
    if (log_p == -kInfinity) continue;
    kl += std::exp(log_p) * (log_p - (b[i] - all_b));
  }
  return std::isnan(kl) ? kInfinity : std::max(kl, 0.0);
}

}  // namespace

double sigma_of(std::span<const float> row) {
  double sum = 0;
  for (const float value : row) sum += value;
  const double mean = sum / static_cast<double>(row.size());
  double squares = 0;
  for (const float value : row) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(row.size()));
}

LogitErrors compare_logits(std::span<const float> a, std::span<const float> b) {
  LogitErrors errors;
  double dot = 0, squares_a = 0, squares_b = 0, sum = 0;
  Spread of_row, of_top;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::bit_cast<uint32_t>(a[i]) == std::bit_cast<uint32_t>(b[i])) {
      if (!std::isfinite(a[i])) continue;  // the same ban on both sides
    } else {
      ++errors.n_bits_differ;
      const double distance = std::abs(double{b[i]} - double{a[i]});
      sum += std::isfinite(distance) ? distance : kInfinity;
      errors.largest_absolute =
          std::max(errors.largest_absolute, std::isfinite(distance) ? distance : kInfinity);
    }
    of_row.add(a[i], b[i]);
    dot += double{a[i]} * b[i];
    squares_a += double{a[i]} * a[i];
    squares_b += double{b[i]} * b[i];
  }
  const std::vector<int32_t> top_a = top_ids(a, kTop);
  const std::vector<int32_t> top_b = errors.n_bits_differ == 0 ? top_a : top_ids(b, kTop);
  errors.top_a = top_a.front();
  errors.top_b = top_b.front();
  for (size_t rank = 0; rank < top_a.size(); ++rank)
    errors.top_k_agree += top_a[rank] == top_b[rank] ? 1 : 0;
  std::vector<int32_t> shown = top_a;
  for (const int32_t id : top_b) {
    if (std::find(top_a.begin(), top_a.end(), id) == top_a.end()) shown.push_back(id);
  }
  for (const int32_t id : shown) {
    const auto at = static_cast<size_t>(id);
    errors.top.push_back({id, a[at], b[at], rank_of(a, top_a, id), rank_of(b, top_b, id), ""});
  }
  if (errors.n_bits_differ == 0) return errors;

  const double sigma = sigma_of(a);
  errors.cosine = dot / std::sqrt(squares_a * squares_b);
  if (!std::isfinite(errors.cosine)) errors.cosine = 0;
  errors.mean_absolute = sum / static_cast<double>(a.size());
  errors.mean_absolute_by_sigma = in_sigma(errors.mean_absolute, sigma);
  errors.kl = kl_divergence(a, b);
  errors.gap_a = in_sigma(
      double{a[static_cast<size_t>(errors.top_a)]} - double{a[static_cast<size_t>(errors.top_b)]},
      sigma);
  for (const int32_t id : shown) of_top.add(a[static_cast<size_t>(id)], b[static_cast<size_t>(id)]);
  errors.gap_change = in_sigma(of_top.value(), sigma);
  errors.row_change = in_sigma(of_row.value(), sigma);
  return errors;
}

void judge(LogitErrors& errors, std::optional<double> noise, std::optional<double> row_noise) {
  errors.noise = noise;
  errors.row_noise = row_noise;
  const bool is_equal = errors.n_bits_differ == 0;
  // Where one side is no finite number and the other is, or is another one, that is no noise.
  const bool is_within = noise && errors.gap_change <= *noise &&
                         (!row_noise || errors.row_change <= *row_noise) &&
                         std::isfinite(errors.largest_absolute);
  errors.verdict = is_equal                       ? Verdict::kMatch
                   : noise && *noise == 0         ? Verdict::kWrong
                   : !is_within                   ? Verdict::kUnexplained
                   : errors.top_a != errors.top_b ? Verdict::kTieFlip
                                                  : Verdict::kDrift;
}

bool rest_decides(const LogitErrors& errors) {
  return errors.noise && errors.gap_change <= *errors.noise && errors.row_noise &&
         !(errors.row_change <= *errors.row_noise);
}

double gap_change(std::span<const float> a, std::span<const float> b, int32_t one, int32_t other) {
  const auto x = static_cast<size_t>(one), y = static_cast<size_t>(other);
  const double change = (double{b[x]} - double{b[y]}) - (double{a[x]} - double{a[y]});
  return in_sigma(std::abs(change), sigma_of(a));
}

double gap(std::span<const float> row, int32_t one, int32_t other) {
  const double distance =
      double{row[static_cast<size_t>(one)]} - double{row[static_cast<size_t>(other)]};
  return in_sigma(std::abs(distance), sigma_of(row));
}

double log_probability(std::span<const float> logits, int32_t id) {
  return logits[static_cast<size_t>(id)] - log_sum_exp(logits);
}

void add_pieces(LogitErrors& errors, const pipeline::Tokenizer& tokenizer) {
  for (LogitErrors::Top& top : errors.top) {
    if (const auto piece = tokenizer.piece(top.id, false)) top.piece = std::string(*piece);
  }
}

}  // namespace plumbline::diff
