#include "core/diff/explain_text.h"

#include <algorithm>

#include "core/diff/text_signatures/diagnose.h"

namespace plumbline::diff {
namespace {

bool differs(const PromptReport& report, Door door) {
  return std::ranges::any_of(report.exact, [&](const ExactDoor& one) {
    return one.door == door && one.is_compared && one.place;
  });
}

}  // namespace

std::optional<Cause> explain_prompt(Side& a, Side& b, const PromptInput& input,
                                    const DiffRequest& request, const PromptReport& report) {
  const pipeline::RenderRequest asked{.now_unix_s = request.now_unix_s};
  if (differs(report, Door::kPrompt) && input.messages) {
    const auto evidence = template_evidence(a.pipeline(), b.pipeline(), {*input.messages, asked});
    return evidence ? diagnose_template(*evidence) : std::nullopt;
  }
  if (!differs(report, Door::kTokens)) return std::nullopt;
  pipeline::Prompt prompt{.bytes = input.text};
  if (input.messages) {
    auto rendered = a.pipeline().render(*input.messages, asked);
    if (!rendered) return std::nullopt;
    prompt = *std::move(rendered);
  }
  const auto evidence = token_evidence(a.pipeline(), b.pipeline(), std::move(prompt));
  return evidence ? diagnose_tokens(*evidence) : std::nullopt;
}

std::optional<Cause> explain_pick(Side& a, Side& b, std::span<const float> logits,
                                  const plumb_sample_context& context) {
  Draw draw;
  draw.logits.assign(logits.begin(), logits.end());
  draw.step = context.step;
  draw.prompt_ids.assign(context.prompt_ids, context.prompt_ids + context.n_prompt_ids);
  draw.generated_ids.assign(context.generated_ids, context.generated_ids + context.n_generated_ids);
  config::SamplingConfig of_a = a.pipeline().config().sampling;
  config::SamplingConfig of_b = b.pipeline().config().sampling;
  of_a.seed = of_b.seed = context.seed;
  return diagnose_sampler(sampler_evidence(of_a, of_b, a.pipeline().host(), std::move(draw)));
}

std::optional<Cause> explain_shown(Side& a, Side& b, std::span<const int32_t> ids) {
  const auto evidence =
      detokenisation_evidence(a.pipeline(), b.pipeline(), {ids.begin(), ids.end()});
  return evidence ? diagnose_text(*evidence) : std::nullopt;
}

}  // namespace plumbline::diff
