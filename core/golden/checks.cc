#include "core/golden/checks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>

#include "core/diff/logit_errors.h"
#include "core/golden/bundle_folder.h"
#include "core/golden/logit_row.h"

namespace plumbline::golden {

using diff::Verdict;

std::string why_ids_prove_nothing(const Bundle& bundle) {
  if (bundle.ids_made_by.empty()) return "";
  return "made by " + bundle.ids_made_by + " itself: " + bundle.made_by.engine +
         " was given ids and has no tokenizer";
}

std::string text_of(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::optional<double> noise_between(const diff::NumericsClass& a, const diff::NumericsClass& b,
                                    const diff::NoiseTable* noise) {
  if (a == b && a.promises_equal_bits()) return 0;
  if (noise == nullptr) return std::nullopt;
  return noise->gap_noise(a, b);
}

Verdict judged(bool is_equal, double change, std::optional<double> noise, bool flips) {
  if (is_equal) return Verdict::kMatch;
  if (noise && *noise == 0) return Verdict::kWrong;
  // Not the other way round: what is no number is never within.
  if (!noise || !(change <= *noise)) return Verdict::kUnexplained;
  return flips ? Verdict::kTieFlip : Verdict::kDrift;
}

std::string noise_text(double change, std::optional<double> noise) {
  if (!noise) return "no noise level is known for this pair of classes";
  if (*noise == 0) return "one numerics class: equal bits are demanded";
  return "the largest change of a gap is " + text_of(change) + " sigma, the noise " +
         text_of(*noise);
}

/// An error that is a finding: the side's arithmetic gave no number.
Finding numeric(const std::string& what, const std::string& why) {
  return {.what = what, .statement = why, .n = 1, .numbers = {}, .verdict = Verdict::kWrong};
}

std::string not_finite(std::span<const float> row) {
  const int32_t bad = first_not_finite(row);
  return bad < 0 ? "" : "the logit of id " + std::to_string(bad) + " is no finite number";
}

Finding check_logits(const std::string& what, std::span<const float> golden,
                     std::span<const float> row, std::optional<double> noise) {
  Finding finding{.what = what + ": first-step logits", .n = row.size()};
  if (const std::string bad = not_finite(row); !bad.empty()) return numeric(finding.what, bad);
  diff::LogitErrors errors = diff::compare_logits(golden, row);
  diff::judge(errors, noise);
  finding.verdict = errors.verdict;
  finding.statement = errors.n_bits_differ == 0 ? "equal bits"
                                                : std::to_string(errors.n_bits_differ) + " of " +
                                                      std::to_string(row.size()) + " differ; " +
                                                      noise_text(errors.gap_change, noise);
  finding.numbers = {{"cosine", errors.cosine},
                     {"mean_absolute", errors.mean_absolute},
                     {"largest_absolute", errors.largest_absolute},
                     {"kl", errors.kl},
                     {"gap_change", errors.gap_change}};
  if (noise) finding.numbers.emplace_back("noise", *noise);
  return finding;
}

Finding check_top(const std::string& what, const std::vector<TopLogit>& golden,
                  std::span<const float> row, double sigma, std::optional<double> noise) {
  Finding finding{.what = what + ": top " + std::to_string(golden.size()), .n = golden.size()};
  if (golden.empty()) return not_compared(finding.what, "the bundle has none");
  if (const std::string bad = not_finite(row); !bad.empty()) return numeric(finding.what, bad);
  const std::vector<TopLogit> ours = top_logits(row, golden.size());
  const auto logit = [&](int32_t id) { return double{row[static_cast<size_t>(id)]}; };
  bool is_equal = true;
  size_t n_same_rank = 0;
  double change = 0;
  for (size_t i = 0; i < golden.size(); ++i) {
    const auto& [id, value] = golden[i];
    is_equal &=
        std::bit_cast<uint32_t>(value) == std::bit_cast<uint32_t>(row[static_cast<size_t>(id)]);
    n_same_rank += ours[i].id == id ? 1 : 0;
    const double gap = double{golden.front().logit} - double{value};
    change = std::max(change, std::abs(logit(golden.front().id) - logit(id) - gap));
    // Of an id that is not in the golden list it is known only that it stood below.
    const bool is_new =
        std::ranges::none_of(golden, [&](const TopLogit& one) { return one.id == ours[i].id; });
    if (is_new) change = std::max(change, double{ours[i].logit} - logit(golden.back().id));
  }
  const bool is_in_order = n_same_rank == golden.size();
  finding.verdict = judged(is_equal && is_in_order, change / sigma, noise, !is_in_order);
  finding.statement = std::to_string(n_same_rank) + " at the same rank; " +
                      (is_equal ? "equal bits" : noise_text(change / sigma, noise));
  finding.numbers = {{"same_rank", static_cast<double>(n_same_rank)},
                     {"gap_change", change / sigma}};
  return finding;
}

namespace {

bool is_inside(int32_t id, uint32_t n_vocab) {
  return static_cast<uint32_t>(id) < n_vocab;
}

Error outside(const std::string& prompt, uint32_t n_vocab) {
  return {PLUMB_CORRUPT, "prompt " + prompt + ": an id is outside the model's vocabulary of " +
                             std::to_string(n_vocab)};
}

}  // namespace

Result<void> check_ids(const std::string& prompt, std::span<const int32_t> ids, uint32_t n_vocab) {
  if (std::ranges::all_of(ids, [&](int32_t id) { return is_inside(id, n_vocab); })) return {};
  return outside(prompt, n_vocab);
}

Result<void> check_ids(const std::string& prompt, const std::vector<TopLogit>& top,
                       uint32_t n_vocab) {
  if (std::ranges::all_of(top, [&](const TopLogit& one) { return is_inside(one.id, n_vocab); }))
    return {};
  return outside(prompt, n_vocab);
}

Result<std::vector<float>> golden_row(const std::string& folder, const GoldenPrompt& prompt,
                                      uint32_t n_vocab) {
  PLUMB_TRY(check_ids(prompt.name, prompt.ids, n_vocab));
  PLUMB_ASSIGN(std::vector<float> row, read_logits(folder, prompt));
  if (row.size() == n_vocab) return row;
  return Error{PLUMB_CORRUPT, folder + "/" + prompt.logits_file + ": found " +
                                  std::to_string(row.size()) + " logits, expected " +
                                  std::to_string(n_vocab) + ", the model's vocabulary"};
}

}  // namespace plumbline::golden
