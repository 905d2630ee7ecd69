// messages.h: a conversation as callers write it -> the context that a chat template renders, and
// who wrote which part of it.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/pipeline/special_tokens.h"
#include "plumb/sdk/result.h"

namespace plumbline::pipeline {

using OrderedJson = nlohmann::ordered_json;

/// What the rendered prompt ends with.
enum class FinalTurn {
  kAuto,  // goes on with a last message of the assistant's, else kAnswer
  kAnswer,  // opens the assistant's next turn
  kContinue,  // goes on with the last message, which must be the assistant's
  kClosed,  // the messages and nothing else
};

struct ContextRequest {
  std::string_view template_source = {};
  SpecialTokens tokens = {};  // bos_token and eos_token are "" where it has none
  FinalTurn final_turn = FinalTurn::kAuto;
  std::optional<bool> thinking = {};  // enable_thinking; empty: the template's own choice
  bool trusts_assistant = true;  // see core/doc/prompts.md
  std::string directive = {};  // put in front of the system message; empty: none
};

struct ChatContext {
  OrderedJson json;  // the template's variables
  /// JSON pointers (RFC 6901) to what strangers wrote: contents of users, tools and unknown roles,
  /// calls of tools, their definitions, documents. What the operator wrote is not among them:
  /// system and developer messages, and every other variable.
  std::vector<std::string> untrusted;
  /// What the last message said where the prompt goes on with it; mark_continued was applied.
  std::optional<std::string> continued;
};

/// Makes messages and their surroundings complete, so that real templates render in strict mode:
/// optional keys that the template uses without asking whether they are there are filled with what
/// an absent one is in a lenient profile: nothing, or a text that prints as nothing. input: an
/// array of messages, or an object with "messages" and any further variables, which stay as they
/// are; its add_generation_prompt and continue_final_message take the place of FinalTurn::kAuto.
/// Fails INVALID_ARGUMENT: which key of which message is wrong, and what was expected.
Result<ChatContext> chat_context(OrderedJson input, const ContextRequest& request);

}  // namespace plumbline::pipeline
