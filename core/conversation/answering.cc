// The making of one answer: fit, prefill, decode, and what stays of it.
#include "core/conversation/conversation_parts.h"
#include "core/conversation/seeds.h"
#include "core/pipeline/continued_turn.h"
#include "core/pipeline/generation.h"

namespace plumbline::conversation {
namespace {

// Whatever leaves an answer half made leads back to where it began.
class HalfMade {
 public:
  HalfMade(Conversation::Parts& parts, std::vector<char> sampler_state)
      : parts_(parts), sampler_state_(std::move(sampler_state)) {}
  HalfMade(const HalfMade&) = delete;
  ~HalfMade() {
    if (is_done_) return;
    static_cast<void>(parts_.held.truncate(n_held_rows));
    static_cast<void>(parts_.sampler->set_state(sampler_state_));
    static_cast<void>(parts_.machine.on(Event::kFail));
    parts_.settle_state();
  }
  void done() { is_done_ = true; }

  uint32_t n_held_rows = 0;  // of the prompt, before it ran

 private:
  Conversation::Parts& parts_;
  std::vector<char> sampler_state_;
  bool is_done_ = false;
};

Budget budget_of(const Options& options, const model::Decoder& decoder, uint32_t max_tokens) {
  Budget budget;
  budget.capacity_rows = decoder.capacity_rows();
  budget.reserve_rows = std::min(options.reserve_output, max_tokens);
  budget.evict_to_rows = options.evict_to.value_or(budget.prompt_rows() / 4 * 3);
  budget.evicts = options.policy == config::ContextPolicy::kTurnAware;
  return budget;
}

// The ids without the end token, which the template writes.
std::span<const int32_t> without_end(const pipeline::Tokenizer& tokenizer,
                                     std::span<const int32_t> ids) {
  const bool ends = !ids.empty() && (tokenizer.attributes(ids.back()) & PLUMB_TOKEN_END) != 0;
  return ends ? ids.first(ids.size() - 1) : ids;
}

// A message with a text behind its own.
Result<OrderedJson> gone_on(OrderedJson message, const std::string& text) {
  OrderedJson& content = message["content"];
  if (!content.is_string()) {
    return Error{PLUMB_INVALID_ARGUMENT,
                 "the assistant's message that is to go on has parts, expected a text"};
  }
  content = content.get<std::string>() + text;
  return message;
}

}  // namespace

Result<Answer> Conversation::Parts::answer(Task task, const Request& request,
                                           const Gate::Pass& pass) {
  PLUMB_ASSIGN(std::vector<char> state_now, sampler->state());
  PLUMB_TRY(machine.on(task.event));
  HalfMade half_made(*this, state_now);
  half_made.n_held_rows = decoder.n_past();
  if (!task.sampler_state.empty()) {
    PLUMB_TRY(sampler->set_state(task.sampler_state));
    state_now = std::move(task.sampler_state);
  }
  const auto tell = [&](Event what) -> Result<void> {
    const State before = machine.state();
    PLUMB_TRY(machine.on(what));
    if (machine.state() != before && request.on_state) request.on_state(machine.state());
    return {};
  };
  if (request.on_state) request.on_state(machine.state());

  pipeline::GenerationRequest generation = pipeline.generation_request({});
  if (request.max_tokens) generation.max_tokens = *request.max_tokens;
  const Budget budget = budget_of(options, decoder, generation.max_tokens);
  generation.reserve_output = budget.reserve_rows;
  Transcript& next = task.transcript;
  PLUMB_ASSIGN(
      FittedPrompt fitted,
      prompts.make_fit(next, {.now_unix_s = now_unix_s, .thinking = request.thinking}, budget));
  Answer answer;
  answer.evicted = fitted.evicted;
  answer.epoch = pass.epoch();
  answer.n_spoken = fitted.prompt.n_spoken;
  answer.n_mismatches = fitted.prompt.n_mismatches;
  PLUMB_ASSIGN(answer.n_reused_rows, held.keep_common(fitted.prompt.ids));
  half_made.n_held_rows = answer.n_reused_rows;

  OrderedJson begun;  // the assistant's message that the prompt goes on with
  if (!next.entries().empty() && is_answer(next.entries().back().message) &&
      pipeline::can_continue(next.entries().back().message)) {
    begun = std::move(next.entries().back().message);
    next.entries().pop_back();
  }
  answer.seed =
      seed_of_answer(request.seed.value_or(sampling.seed), next.n_answers(), task.attempt);
  generation.prompt_ids = std::move(fitted.prompt.ids);
  generation.n_held = answer.n_reused_rows;
  generation.seed = answer.seed;
  generation.cancel = &pass.cancel();
  generation.on_pick = request.on_pick;
  generation.on_logits = request.on_logits;
  Delivery delivery(pass, request.on_text);
  Result<void> told;
  generation.on_text = [&](std::string_view text) {
    if (told && !pass.is_cancelled()) told = tell(Event::kText);
    delivery(text);
  };
  PLUMB_ASSIGN(const pipeline::Generation made,
               pipeline::generate(decoder, *sampler, tokenizer, generation));
  PLUMB_TRY(std::move(told));
  answer.prompt_ids = std::move(generation.prompt_ids);
  held.take(answer.prompt_ids, made.ids);
  answer.prefill_s = made.prefill_s;
  answer.time_to_first_token_s = made.time_to_first_token_s;
  answer.decode_s = made.decode_s;

  const bool is_cancelled =
      made.stop_reason == pipeline::StopReason::kCancelled || delivery.has_dropped();
  answer.stop_reason = is_cancelled ? pipeline::StopReason::kCancelled : made.stop_reason;
  answer.ids = made.ids;
  answer.text = delivery.delivered();
  if (is_cancelled) {
    PLUMB_ASSIGN(DeliveredIds delivered,
                 delivered_ids(tokenizer, made.ids, generation.answer.ill_formed, answer.text));
    answer.ids.resize(delivered.n_ids);
    answer.n_dropped_ids = static_cast<uint32_t>(made.ids.size() - delivered.n_ids);
    answer.text = std::move(delivered.text);
    PLUMB_TRY(held.truncate(static_cast<uint32_t>(answer.prompt_ids.size() + delivered.n_ids)));
    PLUMB_TRY(sampler->set_state(state_now));
  }

  Entry said;
  if (begun.is_null()) {
    said.message = OrderedJson{{"role", "assistant"}, {"content", answer.text}};
  } else {
    PLUMB_ASSIGN(said.message, gone_on(begun, answer.text));
    said.begun = std::move(begun);
  }
  PLUMB_ASSIGN(said.spoken, spoken_parts(prompts.cache(), tokenizer, std::move(fitted.prompt.last),
                                         without_end(tokenizer, answer.ids)));
  said.attempt = task.attempt;
  said.sampler_state = std::move(state_now);
  answer.message = said.message;
  next.entries().push_back(std::move(said));

  PLUMB_TRY(tell(is_cancelled ? Event::kCancel : Event::kEnd));
  PLUMB_TRY(tell(Event::kSettle));
  half_made.done();
  transcript = std::move(next);
  answer.states = machine.take_passed();
  return answer;
}

}  // namespace plumbline::conversation
