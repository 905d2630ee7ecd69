// generator.h: one answer, a row of logits at a time: logits -> pick -> is it over? -> text.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/pipeline/answer_text.h"
#include "core/pipeline/sampler_chain.h"
#include "core/pipeline/tokenizer.h"

namespace plumbline::pipeline {

enum class StopReason {
  kEndToken,
  kStopToken,
  kStopSequence,
  kMaxOutput,
  kContextFull,
  kGrammarDeadEnd,  // a mask of ids left no candidate
  kCancelled,
  kToolCall,  // an output parser found calls: ParsedAnswer
  kSamplerEnded,  // a stage said so: a script that is over
  kError,
};
/// As reports name it: "EOS_TOKEN", "STOP_TOKEN", ...
std::string_view stop_reason_name(StopReason reason);

struct GenerationRequest {
  std::vector<int32_t> prompt_ids;
  /// Of prompt_ids, those in front that the decoder holds already. The sampler sees all of them.
  uint32_t n_held = 0;
  /// Rows of the context that the prompt must leave free; never more than max_tokens are asked for.
  uint32_t reserve_output = 0;
  uint32_t max_tokens = 128;
  AnswerOptions answer;
  uint64_t seed = 0;
  /// Null or: set from a signal handler or another thread, the generation ends between two ops.
  const std::atomic<bool>* cancel = nullptr;
  /// Null or: each piece of text as soon as it is sure; whole UTF-8 characters only.
  std::function<void(std::string_view text)> on_text;
  /// Null or: each row of logits that is about to be picked from, f32[V], borrowed until return.
  std::function<void(std::span<const float> logits)> on_logits;
  /// Null or: each pick.
  std::function<void(const Pick& pick)> on_pick;

  bool is_cancelled() const { return cancel != nullptr && cancel->load(std::memory_order_relaxed); }
};

struct Generation {
  std::vector<int32_t> ids;  // generated, the last one included, whatever ended the answer
  /// Of each id in the answer's bytes; of those that have none, or that a stop cut away, empty.
  std::vector<plumb_span> spans;
  std::string text;  // without control tokens and stops
  StopReason stop_reason = StopReason::kMaxOutput;
  std::optional<Stop> stop;  // of kStopToken and kStopSequence
  uint64_t n_cap_hits = 0;  // picks with a Pick::cap_hit
  double prefill_s = 0;
  double time_to_first_token_s = 0;
  double decode_s = 0;  // from the first token to the end; 0 if there was none
};

/// Knows no decoder: whoever drives it feeds the logits behind the prompt, then behind each id that
/// it gives back, until it is over.
class Generator {
 public:
  /// sampler and tokenizer must outlive it, and nobody else pick with the sampler meanwhile. Its
  /// clock starts here. Fails INVALID_ARGUMENT: a stop's id outside the vocabulary.
  static Result<std::unique_ptr<Generator>> create(SamplerChain& sampler,
                                                   const Tokenizer& tokenizer,
                                                   GenerationRequest request);
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  const GenerationRequest& request() const { return request_; }
  bool is_over() const { return stop_reason_.has_value(); }
  const std::vector<int32_t>& ids() const { return ids_; }
  /// What there is of the answer, also when it is not over.
  Generation generation() const;

  /// Picks from logits f32[V]: the id that the decoder is to be fed next, unless it is over now.
  /// Fails as the sampler does; then it is over too, with kError.
  Result<int32_t> feed(std::span<const float> logits);
  /// Ends it for a reason that only the driver knows; text that was held back comes out. Nothing if
  /// it is over.
  void end(StopReason reason);
  /// The same for an error: kError.
  void fail(Error error);
  /// What an answer that ended with kError failed by.
  const std::optional<Error>& error() const { return error_; }

 private:
  using Clock = std::chrono::steady_clock;
  Generator(SamplerChain& sampler, const Tokenizer& tokenizer, GenerationRequest request);
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  SamplerChain& sampler_;
  const GenerationRequest request_;
  const std::vector<uint64_t> control_bits_;
  const Clock::time_point start_;
  std::vector<int32_t> ids_;
  AnswerText answer_;
  std::optional<StopReason> stop_reason_;  // when it is over
  std::optional<Stop> stop_;
  std::optional<Error> error_;
  uint64_t n_cap_hits_ = 0;
  double prefill_s_ = 0;
  double time_to_first_token_s_ = 0;
  double decode_s_ = 0;
};

}  // namespace plumbline::pipeline
