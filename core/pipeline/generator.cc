#include "core/pipeline/generator.h"

#include <algorithm>
#include <utility>

namespace plumbline::pipeline {

std::string_view stop_reason_name(StopReason reason) {
  switch (reason) {
    case StopReason::kEndToken:
      return "EOS_TOKEN";
    case StopReason::kStopToken:
      return "STOP_TOKEN";
    case StopReason::kStopSequence:
      return "STOP_SEQUENCE";
    case StopReason::kMaxOutput:
      return "MAX_OUTPUT";
    case StopReason::kContextFull:
      return "CONTEXT_FULL";
    case StopReason::kGrammarDeadEnd:
      return "GRAMMAR_DEAD_END";
    case StopReason::kCancelled:
      return "CANCELLED";
    case StopReason::kToolCall:
      return "TOOL_CALL";
    case StopReason::kSamplerEnded:
      return "SAMPLER_ENDED";
    case StopReason::kError:
      return "ERROR";
  }
  return "";
}

Result<std::unique_ptr<Generator>> Generator::create(SamplerChain& sampler,
                                                     const Tokenizer& tokenizer,
                                                     GenerationRequest request) {
  const int32_t largest = request.answer.stops != nullptr ? request.answer.stops->largest_id() : -1;
  if (largest >= 0 && static_cast<uint32_t>(largest) >= sampler.n_vocab()) {
    return Error{PLUMB_INVALID_ARGUMENT, "stops: token id " + std::to_string(largest) +
                                             ", but the vocabulary has " +
                                             std::to_string(sampler.n_vocab())};
  }
  return std::unique_ptr<Generator>(new Generator(sampler, tokenizer, std::move(request)));
}

Generator::Generator(SamplerChain& sampler, const Tokenizer& tokenizer, GenerationRequest request)
    : sampler_(sampler),
      request_(std::move(request)),
      control_bits_(tokenizer.control_bits(sampler.n_vocab())),
      start_(Clock::now()),
      answer_(tokenizer, request_.answer, request_.on_text) {
  constexpr uint32_t kReservedMax = 4096;  // a request may ask for more than ever comes
  ids_.reserve(std::min(request_.max_tokens, kReservedMax));
  if (request_.max_tokens == 0) end(StopReason::kMaxOutput);
}

Generation Generator::generation() const {
  return {.ids = ids_,
          .spans = answer_.spans(),
          .text = answer_.text(),
          .stop_reason = stop_reason_.value_or(StopReason::kMaxOutput),
          .stop = stop_,
          .n_cap_hits = n_cap_hits_,
          .prefill_s = prefill_s_,
          .time_to_first_token_s = time_to_first_token_s_,
          .decode_s = decode_s_};
}

void Generator::end(StopReason reason) {
  if (is_over()) return;
  stop_reason_ = reason;
  if (!ids_.empty()) decode_s_ = seconds() - time_to_first_token_s_;
  answer_.flush();
}

void Generator::fail(Error error) {
  if (is_over()) return;
  end(StopReason::kError);
  error_ = std::move(error);
}

Result<int32_t> Generator::feed(std::span<const float> logits) {
  if (is_over()) return Error{PLUMB_INVALID_ARGUMENT, "logits for an answer that is over"};
  if (ids_.empty()) prefill_s_ = seconds();
  if (request_.on_logits) request_.on_logits(logits);
  const auto pick = sampler_.pick(
      logits, sample_context(request_.seed, request_.prompt_ids, ids_, control_bits_));
  if (!pick && (pick.error().code == PLUMB_CANCELLED || pick.error().code == PLUMB_NOT_FOUND)) {
    end(pick.error().code == PLUMB_CANCELLED ? StopReason::kSamplerEnded
                                             : StopReason::kGrammarDeadEnd);
    return -1;
  }
  if (!pick) {
    fail(pick.error());
    return *error_;
  }
  if (pick->cap_hit) ++n_cap_hits_;
  if (ids_.empty()) time_to_first_token_s_ = seconds();
  ids_.push_back(pick->id);
  if (request_.on_pick) request_.on_pick(*pick);
  const auto ended = answer_.add(pick->id);
  if (!ended) {
    fail(ended.error());
    return *error_;
  }
  if (*ended) {
    stop_ = (*ended)->stop;
    end(!stop_                           ? StopReason::kEndToken
        : stop_->kind == Stop::Kind::kId ? StopReason::kStopToken
                                         : StopReason::kStopSequence);
  } else if (ids_.size() >= request_.max_tokens) {
    end(StopReason::kMaxOutput);
  }
  return pick->id;
}

}  // namespace plumbline::pipeline
