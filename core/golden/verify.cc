#include "core/golden/verify.h"

#include <algorithm>

#include "core/diff/logit_errors.h"
#include "core/golden/checks.h"
#include "core/golden/logit_row.h"

namespace plumbline::golden {
namespace {

using diff::Verdict;

// Rows of logits that are asked for at once: of the largest vocabulary some 16 MB.
constexpr size_t kRowsAtOnce = 16;

// ---- ids

Result<Finding> verify_ids(const GoldenPrompt& prompt, diff::Side& side) {
  PLUMB_ASSIGN(const pipeline::Encoding ours,
               side.pipeline().encode_prompt({.bytes = prompt.text}));
  Finding finding{.what = prompt.name + ": ids of the prompt", .n = prompt.ids.size()};
  const auto [golden, seen] = std::ranges::mismatch(prompt.ids, ours.ids);
  if (golden == prompt.ids.end() && seen == ours.ids.end()) {
    finding.statement = std::to_string(prompt.ids.size()) + " ids, equal";
    return finding;
  }
  const auto shown = [](auto at, auto end) { return at == end ? "the end" : std::to_string(*at); };
  finding.statement = "index " + std::to_string(golden - prompt.ids.begin()) + ": found " +
                      shown(seen, ours.ids.end()) + ", golden " + shown(golden, prompt.ids.end());
  finding.verdict = Verdict::kWrong;
  return finding;
}

// ---- greedy ids

/// The picks behind the recorded ids, one after the other.
class GreedyPicks {
 public:
  GreedyPicks(const GoldenPrompt& prompt, size_t n, std::optional<double> noise)
      : prompt_(&prompt), n_(n), noise_(noise) {
    finding_.what = prompt.name + ": greedy ids";
  }

  bool is_done() const { return !failure_.empty() || at_ == n_; }

  void add(std::span<const float> row) {
    const Greedy& greedy = prompt_->greedy;
    failure_ = not_finite(row);
    if (is_done()) return;
    const TopLogit ours = top_logits(row, 1).front();
    const int32_t golden = greedy.ids[at_];
    if (ours.id != golden) {
      // The engine preferred its pick by its gap or more, the side prefers another by this much.
      const double lead = double{ours.logit} - double{row[static_cast<size_t>(golden)]};
      const double change = (greedy.gaps[at_] + lead) / greedy.sigmas[at_];
      if (n_flips_++ == 0) {
        first_ = "id " + std::to_string(at_) + ": found " + std::to_string(ours.id) + ", golden " +
                 std::to_string(golden) + ", whose lead was " +
                 text_of(greedy.gaps[at_] / greedy.sigmas[at_]) + " sigma";
      }
      worst_ = change <= worst_ ? worst_ : change;
    }
    ++at_;
  }

  Finding finish() && {
    finding_.n = at_;
    if (!failure_.empty())
      return numeric(finding_.what, "id " + std::to_string(at_) + ": " + failure_);
    finding_.verdict = judged(n_flips_ == 0, worst_, noise_, true);
    finding_.statement = n_flips_ == 0
                             ? std::to_string(at_) + " ids, equal"
                             : std::to_string(n_flips_) + " of " + std::to_string(at_) +
                                   " differ, first " + first_ + "; " + noise_text(worst_, noise_);
    const auto& gaps = prompt_->greedy.gaps;
    finding_.numbers = {{"flips", static_cast<double>(n_flips_)},
                        {"narrowest_gap", gaps.empty() ? 0 : *std::ranges::min_element(gaps)}};
    return std::move(finding_);
  }

 private:
  const GoldenPrompt* prompt_;
  size_t n_;
  std::optional<double> noise_;
  Finding finding_;
  size_t at_ = 0;
  uint64_t n_flips_ = 0;
  double worst_ = 0;
  std::string first_, failure_;
};

/// row: behind the prompt, which the side holds.
Result<Finding> verify_greedy(const GoldenPrompt& prompt, std::span<const float> row,
                              diff::Side& side, std::optional<double> noise,
                              const VerifyRequest& request) {
  const std::span<const int32_t> ids =
      std::span(prompt.greedy.ids)
          .first(std::min<size_t>(prompt.greedy.ids.size(), request.n_greedy_max));
  if (prompt.greedy.ids.empty())
    return not_compared(prompt.name + ": greedy ids", "the bundle has none");
  if (ids.empty()) return not_compared(prompt.name + ": greedy ids", "not asked for");
  GreedyPicks picks(prompt, ids.size(), noise);
  picks.add(row);
  for (size_t at = 0; at + 1 < ids.size() && !picks.is_done();) {
    const size_t n = std::min(kRowsAtOnce, ids.size() - 1 - at);
    const auto rows =
        side.forward(ids.subspan(at, n), {.all_rows = true, .cancel = request.cancel});
    if (!rows && rows.error().code == PLUMB_NUMERIC)
      return numeric(prompt.name + ": greedy ids", rows.error().message);
    if (!rows) return rows.error();
    for (size_t i = 0; i < n; ++i)
      picks.add(rows->subspan(i * (rows->size() / n), rows->size() / n));
    at += n;
  }
  return std::move(picks).finish();
}

/// why_not_ids: not empty: its ids are not compared.
Result<void> verify_prompt(const GoldenPrompt& prompt, const std::string& folder, diff::Side& side,
                           std::optional<double> noise, const VerifyRequest& request,
                           const std::string& why_not_ids, std::vector<Finding>& findings) {
  const uint32_t n_vocab = side.hyper_parameters().n_vocab;
  PLUMB_ASSIGN(const std::vector<float> golden, golden_row(folder, prompt, n_vocab));
  PLUMB_TRY(check_ids(prompt.name, prompt.greedy.ids, n_vocab));
  PLUMB_TRY(check_ids(prompt.name, prompt.top, n_vocab));
  if (why_not_ids.empty()) {
    PLUMB_ASSIGN(Finding ids, verify_ids(prompt, side));
    findings.push_back(std::move(ids));
  } else {
    findings.push_back(not_compared(prompt.name + ": ids of the prompt", why_not_ids));
  }
  PLUMB_TRY(side.restart());
  const auto forwarded = side.forward(prompt.ids, {.cancel = request.cancel});
  if (!forwarded && forwarded.error().code == PLUMB_NUMERIC) {
    findings.push_back(numeric(prompt.name + ": first-step logits", forwarded.error().message));
    return {};
  }
  if (!forwarded) return forwarded.error();
  const std::vector<float> row(forwarded->begin(), forwarded->end());
  findings.push_back(check_logits(prompt.name, golden, row, noise));
  findings.push_back(check_top(prompt.name, prompt.top, row, diff::sigma_of(golden), noise));
  PLUMB_ASSIGN(Finding greedy, verify_greedy(prompt, row, side, noise, request));
  findings.push_back(std::move(greedy));
  return {};
}

}  // namespace

std::optional<double> noise_against(const Identity& recorded, const diff::Side& side,
                                    const diff::NoiseTable* noise) {
  diff::NumericsClass golden = side.numerics();  // the weights are the same
  golden.numerics = recorded.numerics;
  golden.activations = recorded.activations;
  golden.kv = recorded.kv;
  return noise_between(golden, side.numerics(), noise);
}

Result<std::vector<Finding>> verify_prompts(const Bundle& bundle, const std::string& folder,
                                            diff::Side& side, const VerifyRequest& request) {
  const std::optional<double> noise = noise_against(bundle.identity, side, request.noise);
  const std::string why_not_ids = why_ids_prove_nothing(bundle);
  std::vector<Finding> findings;
  for (const GoldenPrompt& prompt : bundle.prompts)
    PLUMB_TRY(verify_prompt(prompt, folder, side, noise, request, why_not_ids, findings));
  return findings;
}

}  // namespace plumbline::golden
