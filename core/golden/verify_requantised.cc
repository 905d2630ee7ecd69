#include <algorithm>
#include <cmath>
#include <map>

#include "core/diff/logit_errors.h"
#include "core/golden/checks.h"
#include "core/golden/logit_row.h"
#include "core/golden/verify.h"
#include "core/hash/sha256.h"
#include "plumb/sdk/abi.h"
#include "plumb/sdk/blocks.h"

namespace plumbline::golden {
namespace {

using diff::Verdict;

Finding verify_tensors(const Requantised& made, const model::ModelFile& file) {
  std::map<std::string, std::pair<Sha256, RequantisedTensors>> kinds;
  for (const model::ModelFile::Entry* entry : file.tensors_in_order()) {
    const plumb_tensor& tensor = entry->tensor;
    std::string kind(to_view(tensor.name));
    if (kind.starts_with("blk.") && kind.find('.', 4) != std::string::npos)
      kind = kind.substr(kind.find('.', 4) + 1);
    auto& [hash, seen] = kinds[kind];
    seen.n_tensors += 1;
    seen.to = std::string(format_name(tensor.format));
    hash.update(to_view(tensor.data));
  }
  Finding finding{.what = made.to + ": tensors"};
  std::string differ;
  for (const RequantisedTensors& golden : made.tensors) {
    finding.n += golden.n_tensors;
    const auto found = kinds.find(golden.kind);
    const bool is_equal =
        found != kinds.end() && found->second.second.n_tensors == golden.n_tensors &&
        found->second.second.to == golden.to && found->second.first.finish() == golden.sha256;
    if (!is_equal) differ += (differ.empty() ? "" : ", ") + golden.kind;
  }
  const bool is_complete = kinds.size() == made.tensors.size();
  finding.verdict = differ.empty() && is_complete ? Verdict::kMatch : Verdict::kWrong;
  finding.statement = !differ.empty()
                          ? "the bytes differ from " + made.made_by.engine + "'s in " + differ
                      : is_complete ? std::to_string(finding.n) + " tensors, equal bytes"
                                    : "there are kinds of tensors that the bundle does not have";
  return finding;
}

/// The recorded distance of two engines' rows from one plain row is kept by a third that is near
/// the first, by the triangle inequality: |error| <= noise sigma for the mean, and for the cosine
/// twice the error's length by the row's.
Finding verify_distance(const RequantisedPrompt& golden, std::span<const float> plain,
                        std::span<const float> row, std::optional<double> noise) {
  Finding finding{.what = golden.name + ": distance from the plain weights", .n = row.size()};
  if (const std::string bad = not_finite(row); !bad.empty()) return numeric(finding.what, bad);
  const double sigma = diff::sigma_of(row);
  double squares = 0;
  for (const float x : row) squares += double{x} * x;
  const diff::LogitErrors seen = diff::compare_logits(plain, row);
  const double off_mean = std::abs(seen.mean_absolute - golden.mean_absolute) / sigma;
  const double off_cosine = std::abs(seen.cosine - golden.cosine) * std::sqrt(squares) /
                            (2 * sigma * std::sqrt(static_cast<double>(row.size())));
  const double change = std::max(off_mean, off_cosine);
  finding.verdict = judged(change == 0, change, noise, false);
  finding.statement = "cosine " + text_of(seen.cosine) + ", golden " + text_of(golden.cosine) +
                      "; mean absolute " + text_of(seen.mean_absolute) + ", golden " +
                      text_of(golden.mean_absolute) + (noise ? "" : "; " + noise_text(0, noise));
  finding.numbers = {{"cosine", seen.cosine},
                     {"golden_cosine", golden.cosine},
                     {"mean_absolute", seen.mean_absolute},
                     {"golden_mean_absolute", golden.mean_absolute}};
  return finding;
}

}  // namespace

Result<std::vector<Finding>> verify_requantised(const Bundle& bundle, const Requantised& made,
                                                const std::string& folder, diff::Side& side,
                                                const VerifyRequest& request) {
  const std::optional<double> noise = noise_against(bundle.identity, side, request.noise);
  const uint32_t n_vocab = side.hyper_parameters().n_vocab;
  std::vector<Finding> findings{verify_tensors(made, side.pipeline().file())};
  for (const RequantisedPrompt& golden : made.prompts) {
    const GoldenPrompt& prompt =
        *std::ranges::find(bundle.prompts, golden.name, &GoldenPrompt::name);
    const std::string what = made.to + " " + golden.name;
    PLUMB_TRY(check_ids(prompt.name, golden.top, n_vocab));
    PLUMB_ASSIGN(const std::vector<float> plain, golden_row(folder, prompt, n_vocab));
    PLUMB_TRY(side.restart());
    const auto row = side.forward(prompt.ids, {.cancel = request.cancel});
    if (!row && row.error().code == PLUMB_NUMERIC) {
      findings.push_back(numeric(what + ": first-step logits", row.error().message));
      continue;
    }
    if (!row) return row.error();
    findings.push_back(check_top(what, golden.top, *row, diff::sigma_of(*row), noise));
    findings.push_back(verify_distance(golden, plain, *row, noise));
    findings.back().what = made.to + " " + findings.back().what;
  }
  return findings;
}

}  // namespace plumbline::golden
