#include "core/protocol/noise_level.h"

#include <algorithm>
#include <cmath>

#include "core/diff/engine.h"
#include "core/diff/logit_errors.h"

namespace plumbline::protocol {
namespace {

// Rows of logits that are asked for at once: of the largest vocabulary some 16 MB.
constexpr size_t kRowsAtOnce = 16;

Result<void> measure_rows(diff::Side& a, diff::Side& b, std::span<const int32_t> ids,
                          const NoiseRequest& request, MeasuredNoise& measured) {
  PLUMB_TRY(a.restart());
  PLUMB_TRY(b.restart());
  for (size_t at = 0; at < ids.size(); at += kRowsAtOnce) {
    const size_t n = std::min(kRowsAtOnce, ids.size() - at);
    const diff::ForwardRequest wanted{.all_rows = true, .cancel = request.cancel};
    PLUMB_ASSIGN(const std::span<const float> of_a, a.forward(ids.subspan(at, n), wanted));
    PLUMB_ASSIGN(const std::span<const float> of_b, b.forward(ids.subspan(at, n), wanted));
    const size_t width = of_a.size() / n;
    if (of_b.size() != of_a.size())
      return Error{PLUMB_INCOMPATIBLE, "the two sides have vocabularies of different sizes"};
    for (size_t row = 0; row < n; ++row) {
      const double change =
          diff::compare_logits(of_a.subspan(row * width, width), of_b.subspan(row * width, width))
              .gap_change;
      if (!std::isfinite(change))
        return Error{PLUMB_NUMERIC, "a logit is no finite number: that is no noise"};
      measured.gap_changes.push_back(change);
    }
  }
  return {};
}

Result<void> measure_ops(diff::Side& a, diff::Side& b,
                         const std::vector<std::vector<int32_t>>& prompts,
                         const NoiseRequest& request, MeasuredNoise& measured) {
  const size_t n = std::min<size_t>(request.n_op_prompts, prompts.size());
  for (size_t i = 0; i < n; ++i) {
    if (request.on_progress) request.on_progress("ops of prompt " + std::to_string(i + 1));
    const diff::DiffRequest wanted{.prompts = {{.ids = prompts[i * prompts.size() / n]}},
                                   .n_steps = 0,
                                   .cancel = request.cancel};
    PLUMB_ASSIGN(const diff::Report report, diff::compare(a, b, wanted));
    for (const diff::PromptReport& prompt : report.prompts) {
      for (const diff::OpErrors& op : prompt.ops) {
        double& largest = measured.op_errors[op.kind];
        largest = std::max(largest, op.introduced_worst);
      }
    }
  }
  return {};
}

}  // namespace

double MeasuredNoise::quantile(double q) const {
  if (gap_changes.empty()) return 0;
  const auto last = static_cast<double>(gap_changes.size() - 1);
  return gap_changes[static_cast<size_t>(std::ceil(std::clamp(q, 0.0, 1.0) * last))];
}

Result<MeasuredNoise> measure_noise(diff::Side& a, diff::Side& b, const NoiseRequest& request) {
  MeasuredNoise measured;
  std::vector<std::vector<int32_t>> prompts;
  for (const std::string& text : request.prompts) {
    PLUMB_ASSIGN(pipeline::Encoding encoding, a.pipeline().encode_prompt({.bytes = text}));
    if (encoding.ids.size() > request.n_tokens_max) encoding.ids.resize(request.n_tokens_max);
    if (!encoding.ids.empty()) prompts.push_back(std::move(encoding.ids));
  }
  if (prompts.empty()) return Error{PLUMB_INVALID_ARGUMENT, "there are no prompts to measure on"};
  for (size_t i = 0; i < prompts.size(); ++i) {
    if (request.on_progress) request.on_progress("prompt " + std::to_string(i + 1));
    PLUMB_TRY(measure_rows(a, b, prompts[i], request, measured));
  }
  std::ranges::sort(measured.gap_changes);
  PLUMB_TRY(measure_ops(a, b, prompts, request, measured));
  return measured;
}

}  // namespace plumbline::protocol
