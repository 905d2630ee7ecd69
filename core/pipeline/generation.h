// generation.h: the loop of the corridor: ids -> logits -> pick -> bytes -> text.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/pipeline_config.h"
#include "core/model/decoder.h"
#include "core/pipeline/sampler_chain.h"
#include "core/pipeline/tokenizer.h"

namespace plumbline::pipeline {

enum class StopReason {
  kEndToken,
  kStopString,
  kMaxTokens,
  kContextFull,
  kSamplerEnded,
  kCancelled
};
std::string_view stop_reason_name(StopReason reason);

struct GenerationRequest {
  std::vector<int32_t> prompt_ids;
  /// Of prompt_ids, those in front that the decoder holds already. The sampler sees all of them.
  uint32_t n_held = 0;
  /// Rows of the context that the prompt must leave free; never more than max_tokens are asked for.
  uint32_t reserve_output = 0;
  uint32_t max_tokens = 128;
  std::vector<std::string> stops;
  config::IllFormed ill_formed = config::IllFormed::kAsTokenizer;
  uint64_t seed = 0;
  /// Null or: set from a signal handler or another thread, the generation ends between two ops.
  const std::atomic<bool>* cancel = nullptr;
  /// Null or: each piece of text as soon as it is sure; whole UTF-8 characters only.
  std::function<void(std::string_view text)> on_text;
  /// Null or: each row of logits that is about to be picked from, f32[V], borrowed until return.
  std::function<void(std::span<const float> logits)> on_logits;
  /// Null or: each pick.
  std::function<void(const Pick& pick)> on_pick;
};

struct Generation {
  std::vector<int32_t> ids;  // generated, the end token included
  std::vector<plumb_span> spans;  // of each id in the answer's bytes; control tokens have none
  std::string text;  // without control tokens and stop strings
  StopReason stop_reason = StopReason::kMaxTokens;
  double prefill_s = 0;
  double time_to_first_token_s = 0;
  double decode_s = 0;  // from the first token to the end; 0 if there was none
};

/// Runs a generation from the decoder's present state: the prompt's ids that it does not hold yet
/// are appended. Fails as the decoder and the sampler do; INVALID_ARGUMENT if the prompt leaves too
/// little room for the answer, or more is said to be held than can be.
Result<Generation> generate(model::Decoder& decoder, SamplerChain& sampler,
                            const Tokenizer& tokenizer, const GenerationRequest& request);

}  // namespace plumbline::pipeline
