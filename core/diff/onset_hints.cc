#include "core/diff/onset_hints.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace plumbline::diff {
namespace {

// Thresholds between patterns that lie orders of magnitude apart: KL of healthy quantisations is
// below 0.1 nats, that of unrelated distributions above 1.
constexpr double kNear = 0.1;
constexpr double kFar = 1.0;
constexpr double kScale = 3.0;  // of the logits' spread, against A's
constexpr double kRepetition = 0.5;
constexpr size_t kRun = 4;
constexpr size_t kRopeFirst = 4, kRopeLast = 12;  // tokens that are still right
constexpr size_t kLate = 16;

// The spread of the ids that were shown, B's against A's.
double spread_ratio(const LogitErrors& logits) {
  if (logits.top.empty()) return 1;
  const auto [low_a, high_a] = std::minmax_element(
      logits.top.begin(), logits.top.end(), [](const auto& x, const auto& y) { return x.a < y.a; });
  const auto [low_b, high_b] = std::minmax_element(
      logits.top.begin(), logits.top.end(), [](const auto& x, const auto& y) { return x.b < y.b; });
  const double spread_a = double{high_a->a} - low_a->a, spread_b = double{high_b->b} - low_b->b;
  return spread_a > 0 ? spread_b / spread_a : 1;
}

}  // namespace

double repetition(std::span<const int32_t> ids) {
  if (ids.size() < 2 * kRun) return 0;
  std::set<std::array<int32_t, kRun>> seen;
  size_t n_repeated = 0;
  const size_t n_runs = ids.size() - kRun + 1;
  for (size_t i = 0; i < n_runs; ++i) {
    std::array<int32_t, kRun> run;
    std::copy_n(ids.begin() + static_cast<std::ptrdiff_t>(i), kRun, run.begin());
    n_repeated += seen.insert(run).second ? 0 : 1;
  }
  return static_cast<double>(n_repeated) / static_cast<double>(n_runs);
}

std::vector<std::string> onset_hints(const PromptReport& report, std::span<const int32_t> picked_a,
                                     std::span<const int32_t> picked_b) {
  std::vector<std::string> hints;
  const std::vector<LogitErrors>& logits = report.logits;
  if (logits.empty()) return hints;
  const auto [in_a, in_b] =
      std::mismatch(picked_a.begin(), picked_a.end(), picked_b.begin(), picked_b.end());
  const auto onset = static_cast<size_t>(in_a - picked_a.begin());
  const bool parts = onset < std::max(picked_a.size(), picked_b.size());
  const LogitErrors& first = logits.front();
  const LogitErrors& last = logits.back();

  if (logits.size() >= 2 && first.kl < kNear && logits[1].kl > kFar) {
    hints.push_back(
        "the prompt's logits agree and those of the second token do not: as where the mask or the "
        "KV cache is wrong behind the prompt");
  }
  const bool repeats = repetition(picked_b.subspan(std::min(onset, picked_b.size()))) >
                       kRepetition + repetition(picked_a);
  if (parts && onset >= kRopeFirst && onset <= kRopeLast && repeats) {
    hints.push_back("some right tokens, then B goes round in circles: as where RoPE is wrong");
  }
  const double ratio = spread_ratio(first);
  const bool is_scaled = !(ratio < kScale) || ratio < 1 / kScale;
  if (is_scaled && first.top_k_agree >= 5) {
    hints.push_back(
        "B's logits are scaled while the order of the first survives: as where a norm or a scale "
        "of the logits is wrong");
  }
  if (parts && onset >= kLate && last.kl < kNear && !repeats) {
    hints.push_back(
        "the picks part late, at logits that are close: as by rounding or quantisation alone");
  }
  if (first.kl > kFar && first.top_k_agree == 0) {
    hints.push_back(
        "the first logits are unrelated: as where weights, vocabulary or an op are another one");
  }
  return hints;
}

}  // namespace plumbline::diff
