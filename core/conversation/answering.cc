// The making of one answer: fit, prefill, decode, and what stays of it.
#include "core/conversation/answer_message.h"
#include "core/conversation/conversation_parts.h"
#include "core/conversation/delivery.h"
#include "core/conversation/seeds.h"
#include "core/pipeline/continued_turn.h"
#include "core/pipeline/generation.h"

namespace plumbline::conversation {
namespace {

using Parts = Conversation::Parts;

// Whatever leaves an answer half made leads back to where it began.
class HalfMade {
 public:
  explicit HalfMade(Parts& parts) : n_held_rows(parts.decoder.n_past()), parts_(parts) {}
  HalfMade(const HalfMade&) = delete;
  ~HalfMade() {
    if (is_done_) return;
    static_cast<void>(parts_.held.truncate(n_held_rows));
    parts_.machine.rest(parts_.waits());
  }
  void done() { is_done_ = true; }

  uint32_t n_held_rows;  // that the prompt had before it ran

 private:
  Parts& parts_;
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

// How many of the ids stand in front of what ended the answer: the end token, which the template
// writes, or a stop.
size_t n_in_front_of_end(const pipeline::Tokenizer& tokenizer, const pipeline::Generation& made) {
  size_t n_ids = made.ids.size();
  if (made.stop) {
    while (n_ids > 0 && made.spans[n_ids - 1].begin >= made.stop->at) --n_ids;
  } else if (n_ids > 0 && (tokenizer.attributes(made.ids.back()) & PLUMB_TOKEN_END) != 0) {
    --n_ids;
  }
  return n_ids;
}

// The steps of one answer, in the order of take().
class Turn {
 public:
  Turn(Parts& parts, Parts::Task task, const Request& request, const Gate::Pass& pass)
      : parts_(parts), task_(std::move(task)), request_(request), pass_(pass) {}

  Result<Answer> take();

 private:
  Result<void> tell(Event event);
  Result<void> fit();
  Result<void> generate();
  Result<void> cut_undelivered();
  void report(const pipeline::Generation& made) const;
  Result<void> keep();

  Parts& parts_;
  Parts::Task task_;
  const Request& request_;
  const Gate::Pass& pass_;
  Answer answer_;
  PromptIds prompt_;
  OrderedJson begun_;  // the assistant's message that the prompt goes on with
  pipeline::GenerationRequest generation_;
  pipeline::ParsedAnswer said_;
  size_t n_said_ids_ = 0;  // of the answer's, without what ended it
};

Result<void> Turn::tell(Event event) {
  const State before = parts_.machine.state();
  PLUMB_TRY(parts_.machine.on(event));
  const State now = parts_.machine.state();
  if (now != before && request_.on_state) request_.on_state(now);
  return {};
}

Result<void> Turn::fit() {
  generation_ = parts_.pipeline.generation_request({});
  if (request_.max_tokens) generation_.max_tokens = *request_.max_tokens;
  const Budget budget = budget_of(parts_.options, parts_.decoder, generation_.max_tokens);
  generation_.reserve_output = budget.reserve_rows;
  PLUMB_ASSIGN(FittedPrompt fitted, parts_.prompts.make_fit(task_.transcript,
                                                            {.now_unix_s = parts_.now_unix_s,
                                                             .thinking = request_.thinking},
                                                            budget, request_.diagnostics));
  prompt_ = std::move(fitted.prompt);
  answer_.evicted = fitted.evicted;
  answer_.n_spoken = prompt_.n_spoken;
  answer_.n_mismatches = prompt_.n_mismatches;

  auto& entries = task_.transcript.entries();
  if (!entries.empty() && is_answer(entries.back().message) &&
      pipeline::can_continue(entries.back().message)) {
    begun_ = std::move(entries.back().message);
    entries.pop_back();
  }
  answer_.seed = seed_of_answer(request_.seed.value_or(parts_.sampling.seed),
                                task_.transcript.n_answers(), task_.attempt);
  return {};
}

Result<void> Turn::generate() {
  pipeline::OutputParser* const parser = parts_.parser ? &*parts_.parser : nullptr;
  if (parser != nullptr) PLUMB_TRY(parser->begin(prompt_.bytes));
  const auto on_kind = [this](pipeline::OutputEvent::Kind kind) {
    return tell(kind == pipeline::OutputEvent::Kind::kReasoning ? Event::kThought : Event::kText);
  };
  Delivery delivery(pass_, parser, {request_.on_text, request_.on_thinking, on_kind});
  generation_.prompt_ids = std::move(prompt_.ids);
  generation_.n_held = answer_.n_reused_rows;
  generation_.seed = answer_.seed;
  generation_.cancel = &pass_.cancel();
  generation_.on_pick = request_.on_pick;
  generation_.on_logits = request_.on_logits;
  generation_.on_text = [&](std::string_view text) { delivery.take(text); };
  if (parser != nullptr)
    generation_.answer.shown_control_ids = parser->control_ids(parts_.tokenizer);
  PLUMB_ASSIGN(pipeline::Generation made,
               pipeline::generate(parts_.decoder, *parts_.sampler, parts_.tokenizer, generation_));
  PLUMB_TRY(delivery.finish());
  answer_.prompt_ids = std::move(generation_.prompt_ids);
  parts_.held.take(answer_.prompt_ids, made.ids);
  answer_.prefill_s = made.prefill_s;
  answer_.time_to_first_token_s = made.time_to_first_token_s;
  answer_.decode_s = made.decode_s;
  answer_.ids = made.ids;
  n_said_ids_ = n_in_front_of_end(parts_.tokenizer, made);
  said_ = delivery.arrived();
  const bool is_cancelled =
      made.stop_reason == pipeline::StopReason::kCancelled || delivery.has_dropped();
  answer_.stop_reason =
      is_cancelled ? pipeline::StopReason::kCancelled : said_.stop_reason(made.stop_reason);
  made.stop_reason = answer_.stop_reason;
  if (is_cancelled) PLUMB_TRY(cut_undelivered());
  report(made);
  return {};
}

void Turn::report(const pipeline::Generation& made) const {
  pipeline::Diagnostics* const told = request_.diagnostics;
  if (told == nullptr) return;
  told->seed = answer_.seed;
  told->set_answer(made, parts_.decoder);
  told->generation->n_prompt_tokens = answer_.prompt_ids.size();
  told->kv = {.policy = parts_.options.policy,
              .n_rows = parts_.decoder.n_past(),
              .n_evicted_turns = answer_.evicted.n_groups,
              .n_reused_rows = answer_.n_reused_rows};
}

Result<void> Turn::cut_undelivered() {
  Reading reading{parts_.tokenizer, generation_.answer, parts_.parser ? &*parts_.parser : nullptr,
                  prompt_.bytes};
  reading.options.stops = nullptr;
  PLUMB_ASSIGN(DeliveredIds delivered, delivered_ids(reading, answer_.ids, said_));
  answer_.n_dropped_ids = static_cast<uint32_t>(answer_.ids.size() - delivered.n_ids);
  answer_.ids.resize(delivered.n_ids);
  said_ = std::move(delivered.answer);
  return parts_.held.truncate(static_cast<uint32_t>(answer_.prompt_ids.size() + delivered.n_ids));
}

Result<void> Turn::keep() {
  Entry entry;
  PLUMB_ASSIGN(entry.message, answer_message(begun_, said_, task_.transcript.n_answers()));
  entry.begun = std::move(begun_);
  const auto said_ids = std::span(answer_.ids).first(std::min(n_said_ids_, answer_.ids.size()));
  PLUMB_ASSIGN(entry.spoken, spoken_parts(parts_.prompts.cache(), parts_.tokenizer,
                                          std::move(prompt_.last), said_ids));
  entry.attempt = task_.attempt;
  answer_.message = entry.message;
  answer_.text = std::move(said_.content);
  answer_.thinking = std::move(said_.reasoning);
  task_.transcript.entries().push_back(std::move(entry));
  return {};
}

Result<Answer> Turn::take() {
  // Not the machine's state: a cancel may abandon the calls now, and they still stand there.
  if (!task_.ends_wait && parts_.waits()) PLUMB_TRY(next_state(State::kToolCall, task_.event));
  if (task_.ends_wait) parts_.machine.abandon();
  PLUMB_TRY(parts_.machine.on(task_.event));
  HalfMade half_made(parts_);
  if (request_.on_state) request_.on_state(parts_.machine.state());
  answer_.epoch = pass_.epoch();
  PLUMB_TRY(fit());
  PLUMB_ASSIGN(answer_.n_reused_rows, parts_.held.keep_common(prompt_.ids));
  half_made.n_held_rows = answer_.n_reused_rows;
  PLUMB_TRY(generate());
  PLUMB_TRY(keep());
  if (answer_.stop_reason == pipeline::StopReason::kCancelled) {
    PLUMB_TRY(tell(Event::kCancel));
    PLUMB_TRY(tell(Event::kSettle));
  } else if (calls_tools(answer_.message)) {
    PLUMB_TRY(tell(Event::kToolCall));
  } else {
    PLUMB_TRY(tell(Event::kEnd));
    PLUMB_TRY(tell(Event::kSettle));
  }
  half_made.done();
  parts_.transcript = std::move(task_.transcript);
  answer_.states = parts_.machine.take_passed();
  return std::move(answer_);
}

}  // namespace

Result<Answer> Conversation::Parts::answer(const Request& request,
                                           const std::function<Result<Task>()>& begin) {
  pipeline::Diagnostics* const told = request.diagnostics;
  if (told != nullptr) told->enter(pipeline::Stage::kTemplate);
  const auto pass = enter();
  if (!pass) {
    if (told != nullptr) told->fail(pipeline::ErrorCode::kBusy, pass.error().message);
    return pass.error();
  }
  const auto make = [&]() -> Result<Answer> {
    PLUMB_ASSIGN(Task task, begin());
    return Turn(*this, std::move(task), request, *pass).take();
  };
  try {
    Result<Answer> answer = make();
    if (!answer && told != nullptr) told->fail(answer.error());
    return answer;
  } catch (const std::exception& thrown) {
    if (told != nullptr) told->fail({PLUMB_INTERNAL, thrown.what()});
    throw;
  }
}

}  // namespace plumbline::conversation
