#include <algorithm>
#include <cmath>

#include "core/golden/checks.h"
#include "core/golden/logit_row.h"
#include "core/protocol/stages.h"

namespace plumbline::protocol {

std::string describe(const diff::Side& side) {
  const diff::SideIdentity& identity = side.identity();
  std::string text = identity.backend;
  if (!identity.variant.empty() && identity.variant != config::kAuto)
    text += " " + identity.variant;
  if (identity.is_runner) return text;
  return text + ", " + side.numerics().text();
}

std::vector<std::string> oracle_overrides() {
  return {"kernels.backend=reference", "kernels.variant=auto", "kernels.options={}",
          "kernels.overrides=[]"};
}

Result<std::vector<std::vector<int32_t>>> prompt_ids(const Context& context, diff::Side& side) {
  std::vector<std::vector<int32_t>> all;
  for (const Prompt& prompt : context.request.prompts) {
    PLUMB_ASSIGN(const pipeline::Encoding encoding,
                 side.pipeline().encode_prompt({.bytes = prompt.text}));
    if (encoding.ids.empty())
      return Error{PLUMB_INVALID_ARGUMENT, "prompt " + prompt.name + ": it has no ids"};
    all.push_back(encoding.ids);
  }
  return all;
}

Result<std::vector<float>> last_row(diff::Side& side, std::span<const int32_t> ids,
                                    const std::atomic<bool>* cancel) {
  PLUMB_TRY(side.restart());
  PLUMB_ASSIGN(const std::span<const float> row, side.forward(ids, {.cancel = cancel}));
  return std::vector<float>(row.begin(), row.end());
}

LogitTally::LogitTally(std::string what, std::optional<double> noise) : noise_(noise) {
  finding_.what = std::move(what);
}

void LogitTally::add(std::span<const float> a, std::span<const float> b) {
  ++n_rows_;
  finding_.n += a.size();
  if (!failure_.empty()) return;
  for (const auto& [name, row] : {std::pair("A", a), {"B", b}}) {
    if (const std::string bad = golden::not_finite(row); !bad.empty()) {
      failure_ = std::string(name) + ", row " + std::to_string(n_rows_) + ": " + bad;
      return;
    }
  }
  diff::LogitErrors errors = diff::compare_logits(a, b);
  diff::judge(errors, noise_);
  finding_.verdict = std::max(finding_.verdict, errors.verdict);
  n_bits_differ_ += errors.n_bits_differ;
  n_same_first_ += errors.top_a == errors.top_b ? 1 : 0;
  const auto of_a = golden::top_logits(a, 5), of_b = golden::top_logits(b, 5);
  for (size_t rank = 0; rank < of_a.size(); ++rank)
    n_same_top5_ += of_a[rank].id == of_b[rank].id ? 1 : 0;
  cosine_sum_ += errors.cosine;
  cosine_lowest_ = std::min(cosine_lowest_, errors.cosine);
  mean_absolute_ += errors.mean_absolute;
  kl_ += errors.kl;
  gap_change_ = std::max(gap_change_, errors.gap_change);
}

golden::Finding LogitTally::finish(const std::string& within, const std::string& beyond) && {
  if (!failure_.empty()) return golden::numeric(finding_.what, failure_);
  const auto rows = static_cast<double>(n_rows_);
  // Without a level nobody can tell the one from the other.
  const bool is_known = noise_.has_value() && finding_.verdict != diff::Verdict::kMatch;
  const std::string word = !is_known                                     ? ""
                           : finding_.verdict <= diff::Verdict::kTieFlip ? within
                                                                         : beyond;
  finding_.statement = (word.empty() ? "" : word + ": ") + std::to_string(n_rows_) + " rows, ";
  finding_.statement += n_bits_differ_ == 0
                            ? "equal bits"
                            : std::to_string(n_bits_differ_) + " of " + std::to_string(finding_.n) +
                                  " values differ, the first id in " +
                                  std::to_string(n_rows_ - n_same_first_) + "; " +
                                  golden::noise_text(gap_change_, noise_);
  finding_.numbers = {{"rows", rows},
                      {"bits_differ", static_cast<double>(n_bits_differ_)},
                      {"cosine_mean", cosine_sum_ / rows},
                      {"cosine_lowest", cosine_lowest_},
                      {"mean_absolute", mean_absolute_ / rows},
                      {"kl_mean", kl_ / rows},
                      {"same_first", static_cast<double>(n_same_first_) / rows},
                      {"same_rank_of_five", static_cast<double>(n_same_top5_) / rows},
                      {"gap_change", gap_change_}};
  if (noise_) finding_.numbers.emplace_back("noise", *noise_);
  return std::move(finding_);
}

}  // namespace plumbline::protocol
