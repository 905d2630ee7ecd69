// message_checks.h: what a conversation must look like before a template sees it.
#pragma once

#include <nlohmann/json.hpp>

#include "plumb/sdk/result.h"

namespace plumbline::pipeline {

/// input: an array of messages, or an object with "messages". Each message has a role, and keys
/// that are names ([A-Za-z_][A-Za-z0-9_]*), for templates may write them; content is a text, null,
/// an object or a list of parts; tool_calls are objects with a name and arguments, as they are or
/// as JSON in a text; tools and documents are lists of objects. Fails INVALID_ARGUMENT:
/// "messages[3].role: a number, expected a text".
Result<void> check_conversation(const nlohmann::ordered_json& input);

}  // namespace plumbline::pipeline
