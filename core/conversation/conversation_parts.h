// conversation_parts.h: what a conversation is made of, and the making of one answer.
#pragma once

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
    Transcript transcript;  // takes the place of the present one if all goes well
    Event event = Event::kAsk;
    uint32_t attempt = 0;  // at the answer behind the same messages, before this one
    std::vector<char> sampler_state = {};  // empty: as it is
  };
  Result<Gate::Pass> enter(const Request& request);
  Result<Answer> answer(Task task, const Request& request, const Gate::Pass& pass);
  /// Answers with a message, if it is not null, in the place of entry `index` and all behind it.
  Result<Answer> answer_instead(size_t index, OrderedJson message, uint32_t attempt,
                                const Request& request, const Gate::Pass& pass);
  /// The state of the sampler in front of the first answer from entry `index` on; empty if there is
  /// none.
  std::vector<char> sampler_state_at(size_t index) const;
  /// Puts a transcript in the place of the present one, whose entries from `index` on are gone.
  Result<void> replace(Transcript next, size_t index);
  /// Idle, or waiting for results where the transcript ends with calls of tools.
  void settle_state();
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
