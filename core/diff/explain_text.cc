#include "core/diff/explain_text.h"

#include <algorithm>

#include "core/diff/text_signatures/diagnose.h"
#include "core/diff/verdicts.h"
#include "plumb/sdk/id_bits.h"

namespace plumbline::diff {
namespace {

// Of the exact doors first to last; null: none differs.
const Place* first_difference(const PromptReport& report, Door first, Door last) {
  const auto found = std::ranges::find_if(report.exact, [&](const ExactDoor& one) {
    return one.door >= first && one.door <= last && one.is_compared && one.place;
  });
  return found == report.exact.end() ? nullptr : &*found->place;
}

// What is wrong may be wrong in A.
template <typename Diagnose>
std::optional<Cause> either_way(Side& a, Side& b, const Place& place, const Diagnose& diagnose) {
  std::optional<Cause> cause = diagnose(a.pipeline(), b.pipeline());
  if (!cause) {
    cause = diagnose(b.pipeline(), a.pipeline());
    if (cause) cause->statement = "A and B exchanged: " + cause->statement;
  }
  if (cause) cause->place = place;
  return cause;
}

}  // namespace

std::optional<Cause> explain_prompt(Side& a, Side& b, const PromptInput& input,
                                    const DiffRequest& request, const PromptReport& report) {
  using pipeline::Pipeline;
  const Place* const place = first_difference(report, Door::kPrompt, Door::kTokens);
  if (place == nullptr) return std::nullopt;
  const pipeline::RenderRequest asked{.now_unix_s = request.now_unix_s};
  if (place->door == Door::kPrompt) {
    return either_way(a, b, *place, [&](Pipeline& one, Pipeline& other) {
      const auto evidence = template_evidence(one, other, {*input.messages, asked});
      return evidence ? diagnose_template(*evidence) : std::nullopt;
    });
  }
  pipeline::Prompt prompt{.bytes = input.text};
  if (input.messages) {
    auto rendered = a.pipeline().render(*input.messages, asked);
    if (!rendered) return std::nullopt;
    prompt = *std::move(rendered);
  }
  return either_way(a, b, *place, [&](Pipeline& one, Pipeline& other) {
    const auto evidence = token_evidence(one, other, prompt);
    return evidence ? diagnose_tokens(*evidence) : std::nullopt;
  });
}

std::optional<Cause> explain_pick(Side& a, Side& b, std::span<const float> logits,
                                  const plumb_sample_context& context, std::span<const char> state,
                                  const PickErrors& pick) {
  Draw draw;
  draw.logits.assign(logits.begin(), logits.end());
  draw.step = context.step;
  draw.prompt_ids.assign(context.prompt_ids, context.prompt_ids + context.n_prompt_ids);
  draw.generated_ids.assign(context.generated_ids, context.generated_ids + context.n_generated_ids);
  draw.control_bits.assign(context.control_bits, context.control_bits + id_words(logits.size()));
  draw.state.assign(state.begin(), state.end());
  const auto n_vocab = static_cast<uint32_t>(logits.size());
  return either_way(a, b, place_of(pick), [&](pipeline::Pipeline& one, pipeline::Pipeline& other) {
    const auto tokenizer = one.tokenizer();
    if (!tokenizer) return std::optional<Cause>();
    config::SamplingConfig of_one = one.config().sampling;
    config::SamplingConfig of_other = other.config().sampling;
    of_one.seed = of_other.seed = context.seed;
    const auto breakers = [&](const config::SamplingConfig& sampling) {
      return (*tokenizer)->ids_with(sampling.breakers, n_vocab);
    };
    return diagnose_sampler(
        sampler_evidence(of_one, of_other, a.config().config.sampling, one.host(), breakers, draw));
  });
}

std::optional<Cause> explain_shown(Side& a, Side& b, std::span<const int32_t> ids,
                                   const Shower& show_b, const PromptReport& report) {
  const Place* const place = first_difference(report, Door::kBytes, Door::kText);
  if (place == nullptr) return std::nullopt;
  return either_way(a, b, *place, [&](pipeline::Pipeline& one, pipeline::Pipeline& other) {
    auto evidence = detokenisation_evidence(one, other, {ids.begin(), ids.end()});
    if (!evidence) return std::optional<Cause>();
    const auto shown_by_b = [&](const Ids& shown) { return show_b(b.pipeline(), shown); };
    (&one == &a.pipeline() ? evidence->b : evidence->a) = shown_by_b;
    return diagnose_text(*evidence);
  });
}

}  // namespace plumbline::diff
