// tokenizer_config.h: the chat templates of a tokenizer_config.json.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plumb/sdk/result.h"

namespace plumbline::loaders::tokenizer {

/// A name and a template's text, in the file's order. The one that is used unless another is asked
/// for is named "default"; where the file has but one, it has this name.
using ChatTemplates = std::vector<std::pair<std::string, std::string>>;

/// None if the file has none. Fails CORRUPT: no JSON object (byte), a chat_template that is neither
/// a text nor a list of {"name", "template"}, a name twice or one that is no plain word.
Result<ChatTemplates> read_chat_templates(std::string_view config_json);

}  // namespace plumbline::loaders::tokenizer
