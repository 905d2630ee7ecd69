// conversation_parts.h: what a conversation is made of, and the making of one answer.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "core/conversation/conversation.h"
#include "core/conversation/gate.h"
#include "core/conversation/held_rows.h"
#include "core/conversation/identity.h"

namespace plumbline::conversation {

struct Conversation::Parts {
  Parts(pipeline::Pipeline& used, const Options& wanted, PromptMaker maker,
        const pipeline::Tokenizer& tokens, model::Decoder& model, pipeline::SamplerChain chain,
        std::optional<pipeline::OutputParser> output)
      : pipeline(used),
        options(wanted),
        tokenizer(tokens),
        decoder(model),
        gate(wanted.when_busy),
        prompts(std::move(maker)),
        sampler(std::make_unique<pipeline::SamplerChain>(std::move(chain))),
        parser(std::move(output)),
        now_unix_s(wanted.now_unix_s),
        sampling(used.config().sampling),
        held(model) {}

  /// What an answer is made for.
  struct Task {
    Transcript transcript = {};  // takes the place of the present one if all goes well
    Event event = Event::kAsk;
    uint32_t attempt = 0;  // at the answer behind the same messages, before this one
    bool ends_wait = false;  // for results, if the present transcript waits for some
  };
  /// Leave to use all below. Fails as the gate does.
  Result<Gate::Pass> enter();
  /// Comes in, makes an answer of the task that `begin` sets, and tells the request's payload
  /// whatever fails on the way.
  Result<Answer> answer(const Request& request, const std::function<Result<Task>()>& begin);
  /// With a message, if it is not null, in the place of entry `index` and all behind it.
  Task instead_of(size_t index, OrderedJson message, uint32_t attempt) const;
  /// Does the transcript end with calls of tools?
  bool waits() const;
  void replace(Transcript next);
  Result<const Identity*> own_identity();
  Result<Restored> restore(std::string_view file);

  pipeline::Pipeline& pipeline;
  const Options options;
  const pipeline::Tokenizer& tokenizer;
  model::Decoder& decoder;
  Gate gate;
  StateMachine machine;
  PromptMaker prompts;
  std::unique_ptr<pipeline::SamplerChain> sampler;
  std::optional<pipeline::OutputParser> parser;  // empty: all is content
  int64_t now_unix_s;
  config::SamplingConfig sampling;
  Transcript transcript;
  HeldRows held;
  std::optional<Identity> identity;  // once it was asked for
};

/// Template variables that a conversation can have beside its messages. Fails INVALID_ARGUMENT.
Result<void> check_variables(const OrderedJson& variables);

}  // namespace plumbline::conversation
