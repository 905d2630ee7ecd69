// mutants.h: one thing broken in a tokenizer.json, a chat template, a list of sampler stages or a
// conversation, as people have broken it. Each is named for the cause that a diagnosis should find.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/config/pipeline_config.h"
#include "core/diff/conversation_play.h"

namespace plumbline::test {

/// tokenizer: a tokenizer.json, parsed; config: what stands beside it. Changes them and says so, or
/// finds nothing to break.
struct TokenizerMutant {
  const char* cause;
  const char* how;
  std::function<bool(nlohmann::json& tokenizer, nlohmann::json& config)> apply;
};
/// Of what becomes of a text, and of what becomes of ids.
const std::vector<TokenizerMutant>& encoding_mutants();
const std::vector<TokenizerMutant>& decoding_mutants();

struct TemplateMutant {
  const char* cause;
  const char* how;
  /// Nothing where the template has nothing to break.
  std::function<std::optional<std::string>(const std::string& source)> apply;
};
const std::vector<TemplateMutant>& template_mutants();

struct SamplingMutant {
  const char* cause;
  const char* how;
  std::function<bool(config::SamplingConfig& sampling)> apply;
};
const std::vector<SamplingMutant>& sampling_mutants();

/// Does it to a conversation, behind each of its turns at which it can be done.
struct ConversationMutant {
  const char* cause;
  const char* how;
  std::function<Result<void>(pipeline::Pipeline& pipeline, conversation::Conversation& conversation,
                             const diff::TurnSeen& seen)>
      apply;
};
const std::vector<ConversationMutant>& conversation_mutants();

}  // namespace plumbline::test
