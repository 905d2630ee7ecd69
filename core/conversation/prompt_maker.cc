#include "core/conversation/prompt_maker.h"

#include <algorithm>

namespace plumbline::conversation {
namespace {

Error too_large(const PromptIds& prompt, const Transcript& transcript, const Budget& budget,
                const std::string& why) {
  return {PLUMB_INVALID_ARGUMENT,
          "the prompt of " + std::to_string(transcript.n_messages()) + " messages has " +
              std::to_string(prompt.ids.size()) + " ids, but there is room for " +
              std::to_string(budget.prompt_rows()) + ": of " +
              std::to_string(budget.capacity_rows) + " rows of context " +
              std::to_string(budget.reserve_rows) + " are reserved for the answer; " + why};
}

Transcript without_groups(const Transcript& transcript, size_t n_groups) {
  Transcript rest = transcript;
  const std::vector<Range> groups = transcript.groups();
  if (n_groups > 0) rest.erase({groups.front().first, groups[n_groups - 1].last});
  return rest;
}

}  // namespace

Result<PromptMaker> PromptMaker::create(pipeline::Pipeline& pipeline, HistoryIds history_ids) {
  PLUMB_TRY(pipeline.chat_template());
  PLUMB_ASSIGN(const pipeline::Tokenizer* const tokenizer, pipeline.tokenizer());
  PLUMB_ASSIGN(const std::span<const uint64_t> control_bits, pipeline.control_bits());
  // Where strangers may have written the answers, no control token in them is history.
  if (!pipeline.config().chat_template.trusts_assistant) history_ids = HistoryIds::kRetokenise;
  return PromptMaker(pipeline, *tokenizer, control_bits, history_ids);
}

Result<PromptIds> PromptMaker::make(const Transcript& transcript,
                                    const pipeline::RenderRequest& request,
                                    pipeline::Diagnostics* stage) {
  if (stage != nullptr) stage->enter(pipeline::Stage::kTemplate);
  OrderedJson context = variables;
  context["messages"] = transcript.messages();
  PLUMB_ASSIGN(pipeline::Prompt prompt, pipeline_->render(std::move(context), request));
  if (stage != nullptr) stage->enter(pipeline::Stage::kPrompt);
  PLUMB_ASSIGN(const auto parts, cache_.encode(prompt));
  PromptIds joined = join_parts(parts, transcript, history_ids_);
  pipeline::Encoding begun{std::move(joined.ids), {}};
  begun.spans.resize(begun.ids.size());
  pipeline::begin_prompt(tokenizer_->info(), begun);
  joined.ids = std::move(begun.ids);
  joined.bytes = std::move(prompt.bytes);
  return joined;
}

Result<FittedPrompt> PromptMaker::make_fit(Transcript& transcript,
                                           const pipeline::RenderRequest& request,
                                           const Budget& budget, pipeline::Diagnostics* stage) {
  FittedPrompt fitted;
  PLUMB_ASSIGN(fitted.prompt, make(transcript, request, stage));
  if (stage != nullptr) stage->enter(pipeline::Stage::kGeneration);
  const size_t n_before = fitted.prompt.ids.size();
  if (n_before <= budget.prompt_rows()) return fitted;
  if (!budget.evicts) {
    return too_large(fitted.prompt, transcript, budget,
                     "shorten the conversation, raise context.length, or let "
                     "context.policy: turn_aware drop the oldest turns");
  }
  const std::vector<Range> groups = transcript.groups();
  const auto size_without = [&](size_t n_groups) -> Result<size_t> {
    PLUMB_ASSIGN(fitted.prompt, make(without_groups(transcript, n_groups), request));
    return fitted.prompt.ids.size();
  };
  // The fewest groups whose going is enough. A prompt never grows when messages go.
  const size_t target = std::min(budget.evict_to_rows, budget.prompt_rows());
  const size_t most = groups.empty() ? 0 : groups.size() - 1;
  size_t too_few = 0, enough = most;
  while (enough - too_few > 1) {
    const size_t middle = too_few + (enough - too_few) / 2;
    PLUMB_ASSIGN(const size_t n_ids, size_without(middle));
    (n_ids <= target ? enough : too_few) = middle;
  }
  PLUMB_ASSIGN(const size_t n_after, size_without(enough));
  if (n_after > budget.prompt_rows()) {
    return too_large(fitted.prompt, without_groups(transcript, enough), budget,
                     "these are the system message and the last turn, which always stay: shorten "
                     "them, raise context.length or lower context.reserve_output");
  }
  if (enough == 0) return fitted;
  fitted.evicted = {{groups.front().first, groups[enough - 1].last},
                    static_cast<uint32_t>(enough),
                    static_cast<uint32_t>(n_before - n_after)};
  transcript.erase(fitted.evicted.messages);
  return fitted;
}

}  // namespace plumbline::conversation
