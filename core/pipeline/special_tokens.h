// special_tokens.h: the literals that a chat template is given by name: bos_token, eos_token, ...
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "plumb/sdk/result.h"

namespace plumbline::pipeline {

using SpecialTokens = std::map<std::string, std::string>;

/// Every NAME_token of a tokenizer_config.json, a text or an object with its content, as
/// transformers hands them to templates. None for an empty text. Fails CORRUPT: no JSON object.
Result<SpecialTokens> special_tokens(std::string_view tokenizer_config_json);

}  // namespace plumbline::pipeline
