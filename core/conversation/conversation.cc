#include "core/conversation/conversation.h"

#include <algorithm>

#include "core/conversation/answer_message.h"
#include "core/conversation/conversation_parts.h"
#include "core/pipeline/continued_turn.h"
#include "core/pipeline/message_checks.h"

namespace plumbline::conversation {
namespace {

Result<void> check_policy(config::ContextPolicy policy) {
  if (policy == config::ContextPolicy::kTurnAware || policy == config::ContextPolicy::kFull)
    return {};
  return Error{
      PLUMB_INVALID_CONFIG,
      "context.policy ring and sink_ring drop tokens wherever they stand, the system "
      "message and halves of turns too: they are for raw text; expected turn_aware or full "
      "of a conversation"};
}

Result<void> check_index(size_t index, const Transcript& transcript) {
  if (index < transcript.n_messages()) return {};
  return Error{PLUMB_INVALID_ARGUMENT,
               "message " + std::to_string(index) + ": the conversation has " +
                   std::to_string(transcript.n_messages()) + ", counted from 0"};
}

Result<void> check_messages(const std::vector<OrderedJson>& messages) {
  if (messages.empty()) return Error{PLUMB_INVALID_ARGUMENT, "no messages, expected at least one"};
  return pipeline::check_conversation(OrderedJson(messages));
}

Result<const Entry*> last_answer(const Transcript& transcript, const char* what_to) {
  if (transcript.n_messages() > 0 && is_answer(transcript.entries().back().message))
    return &transcript.entries().back();
  return Error{PLUMB_INVALID_ARGUMENT,
               "the last message is no answer: there is none to " + std::string(what_to)};
}

Transcript cut_at(const Transcript& transcript, size_t index) {
  Transcript rest = transcript;
  rest.entries().resize(index, Entry{OrderedJson()});
  return rest;
}

}  // namespace

Options options_of(const config::PipelineConfig& config) {
  const config::ContextConfig& context = config.context;
  return {.policy = context.policy,
          .reserve_output = context.reserve_output,
          .evict_to = context.evict_to,
          .history_ids = context.history_ids,
          .when_busy = context.when_busy};
}

Conversation::Conversation(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Conversation::~Conversation() = default;

Result<std::unique_ptr<Conversation>> Conversation::create(pipeline::Pipeline& pipeline,
                                                           const Options& options) {
  PLUMB_TRY(check_policy(options.policy));
  PLUMB_ASSIGN(PromptMaker prompts, PromptMaker::create(pipeline, options.history_ids));
  PLUMB_ASSIGN(const pipeline::Tokenizer* const tokenizer, pipeline.tokenizer());
  PLUMB_ASSIGN(pipeline::SamplerChain sampler, pipeline.sampler());
  PLUMB_ASSIGN(std::optional<pipeline::OutputParser> parser, pipeline.output_parser());
  PLUMB_ASSIGN(model::Decoder* const decoder, pipeline.decoder());
  return std::unique_ptr<Conversation>(
      new Conversation(std::make_unique<Parts>(pipeline, options, std::move(prompts), *tokenizer,
                                               *decoder, std::move(sampler), std::move(parser))));
}

bool Conversation::Parts::waits() const {
  return transcript.n_messages() > 0 && calls_tools(transcript.entries().back().message);
}

void Conversation::Parts::replace(Transcript next) {
  transcript = std::move(next);
  machine.rest(waits());
}

Result<Gate::Pass> Conversation::Parts::enter() {
  PLUMB_ASSIGN(Gate::Pass pass, gate.enter());
  // A cancel from a signal handler abandons results, and cannot strike the calls out itself.
  if (machine.state() == State::kIdle && waits())
    transcript.entries().back().message.erase("tool_calls");
  return pass;
}

Conversation::Parts::Task Conversation::Parts::instead_of(size_t index, OrderedJson message,
                                                          uint32_t attempt) const {
  Task task{cut_at(transcript, index), Event::kAsk, attempt, waits()};
  if (!message.is_null()) task.transcript.append(std::move(message));
  return task;
}

Result<Answer> Conversation::ask(std::vector<OrderedJson> messages, const Request& request) {
  return parts_->answer(request, [&]() -> Result<Parts::Task> {
    PLUMB_TRY(check_messages(messages));
    Transcript next = parts_->transcript;
    for (OrderedJson& message : messages) next.append(std::move(message));
    return Parts::Task{std::move(next)};
  });
}

Result<Answer> Conversation::ask(std::string_view text, const Request& request) {
  return ask(std::vector<OrderedJson>{{{"role", "user"}, {"content", text}}}, request);
}

Result<Answer> Conversation::ask_anew(std::vector<OrderedJson> messages, const Request& request) {
  return parts_->answer(request, [&]() -> Result<Parts::Task> {
    PLUMB_TRY(check_messages(messages));
    Parts::Task task;
    task.ends_wait = parts_->waits();
    for (OrderedJson& message : messages) task.transcript.append(std::move(message));
    return task;
  });
}

Result<Answer> Conversation::give(std::vector<OrderedJson> results, const Request& request) {
  return parts_->answer(request, [&]() -> Result<Parts::Task> {
    PLUMB_TRY(check_messages(results));
    PLUMB_TRY(next_state(parts_->machine.state(), Event::kToolResults));
    Transcript next = parts_->transcript;
    PLUMB_TRY(join_results(next.entries().back().message, results));
    for (OrderedJson& result : results) next.append(std::move(result));
    return Parts::Task{std::move(next), Event::kToolResults};
  });
}

Result<void> Conversation::abandon() {
  PLUMB_ASSIGN(const Gate::Pass pass, parts_->enter());
  PLUMB_TRY(next_state(parts_->machine.state(), Event::kAbandon));
  parts_->transcript.entries().back().message.erase("tool_calls");
  parts_->machine.abandon();
  return {};
}

Result<Answer> Conversation::retry(const Request& request) {
  return parts_->answer(request, [&]() -> Result<Parts::Task> {
    PLUMB_ASSIGN(const Entry* const last, last_answer(parts_->transcript, "retry"));
    return parts_->instead_of(parts_->transcript.n_messages() - 1, last->begun, last->attempt + 1);
  });
}

Result<Answer> Conversation::go_on(const Request& request) {
  return parts_->answer(request, [&]() -> Result<Parts::Task> {
    PLUMB_ASSIGN(const Entry* const last, last_answer(parts_->transcript, "go on with"));
    if (!pipeline::can_continue(last->message)) {
      return Error{PLUMB_INVALID_ARGUMENT,
                   "the last answer has no text, expected one to go on with"};
    }
    return Parts::Task{parts_->transcript, Event::kAsk, last->attempt + 1};
  });
}

Result<Answer> Conversation::edit(size_t index, OrderedJson message, const Request& request) {
  return parts_->answer(request, [&]() -> Result<Parts::Task> {
    PLUMB_TRY(check_messages({message}));
    PLUMB_TRY(check_index(index, parts_->transcript));
    return parts_->instead_of(index, std::move(message), 0);
  });
}

Result<void> Conversation::cut(size_t index) {
  PLUMB_ASSIGN(const Gate::Pass pass, parts_->enter());
  PLUMB_TRY(check_index(index, parts_->transcript));
  parts_->replace(cut_at(parts_->transcript, index));
  return {};
}

Result<OrderedJson> Conversation::undo() {
  PLUMB_ASSIGN(const Gate::Pass pass, parts_->enter());
  const auto& entries = parts_->transcript.entries();
  const auto last = std::find_if(entries.rbegin(), entries.rend(), [](const Entry& entry) {
    return entry.message["role"] == "user";
  });
  if (last == entries.rend())
    return Error{PLUMB_INVALID_ARGUMENT, "the conversation has no user's message to undo"};
  OrderedJson message = last->message;
  const auto index = static_cast<size_t>(entries.rend() - last) - 1;
  parts_->replace(cut_at(parts_->transcript, index));
  return message;
}

Result<void> Conversation::set_system(std::string_view text) {
  PLUMB_ASSIGN(const Gate::Pass pass, parts_->enter());
  auto& entries = parts_->transcript.entries();
  const bool is_there = !entries.empty() && entries.front().message["role"] == "system";
  if (is_there) entries.erase(entries.begin());
  if (!text.empty()) {
    entries.insert(entries.begin(),
                   Entry{OrderedJson{{"role", "system"}, {"content", std::string(text)}}});
  }
  return {};
}

Result<void> check_variables(const OrderedJson& variables) {
  if (!variables.is_object())
    return Error{PLUMB_INVALID_ARGUMENT, "template variables: expected an object"};
  for (const char* key : {"messages", "add_generation_prompt", "continue_final_message"}) {
    if (variables.contains(key)) {
      return Error{PLUMB_INVALID_ARGUMENT,
                   "template variables: the conversation sets " + std::string(key) + " itself"};
    }
  }
  return {};
}

Result<void> Conversation::set_variables(OrderedJson variables) {
  PLUMB_ASSIGN(const Gate::Pass pass, parts_->enter());
  PLUMB_TRY(check_variables(variables));
  parts_->prompts.variables = std::move(variables);
  return {};
}

Result<OrderedJson> Conversation::variables() {
  PLUMB_ASSIGN(const Gate::Pass pass, parts_->enter());
  return parts_->prompts.variables;
}

Result<void> Conversation::set_sampling(const config::SamplingConfig& sampling) {
  PLUMB_ASSIGN(const Gate::Pass pass, parts_->enter());
  PLUMB_ASSIGN(pipeline::SamplerChain chain, parts_->pipeline.sampler(sampling));
  parts_->sampler = std::make_unique<pipeline::SamplerChain>(std::move(chain));
  parts_->sampling = sampling;
  return {};
}

Result<void> Conversation::set_messages(std::vector<OrderedJson> messages) {
  PLUMB_TRY(pipeline::check_conversation(OrderedJson(messages)));
  PLUMB_ASSIGN(const Gate::Pass pass, parts_->enter());
  Transcript next;
  for (OrderedJson& message : messages) next.append(std::move(message));
  parts_->replace(std::move(next));
  return {};
}

void Conversation::cancel() noexcept {
  parts_->gate.cancel();
  parts_->machine.abandon();
}

State Conversation::state() const {
  return parts_->machine.state();
}

Result<OrderedJson> Conversation::messages() {
  PLUMB_ASSIGN(const Gate::Pass pass, parts_->enter());
  return parts_->transcript.messages();
}

Result<Conversation::Usage> Conversation::usage() {
  PLUMB_ASSIGN(const Gate::Pass pass, parts_->enter());
  Usage usage;
  usage.held_rows = parts_->decoder.n_past();
  usage.capacity_rows = parts_->decoder.capacity_rows();
  usage.kv_bytes_per_row = parts_->decoder.kv_bytes_per_row();
  usage.n_evicted_messages = parts_->transcript.n_erased();
  usage.n_encoded_bytes = parts_->prompts.cache().n_encoded_bytes();
  usage.n_reused_bytes = parts_->prompts.cache().n_reused_bytes();
  return usage;
}

}  // namespace plumbline::conversation
