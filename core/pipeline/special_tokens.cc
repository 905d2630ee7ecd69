#include "core/pipeline/special_tokens.h"

#include <nlohmann/json.hpp>

namespace plumbline::pipeline {

Result<SpecialTokens> special_tokens(std::string_view tokenizer_config_json) {
  SpecialTokens tokens;
  if (tokenizer_config_json.empty()) return tokens;
  const auto config = nlohmann::json::parse(tokenizer_config_json, nullptr, false);
  if (!config.is_object())
    return Error{PLUMB_CORRUPT, "tokenizer_config.json: expected a JSON object"};
  for (const auto& [key, value] : config.items()) {
    if (!key.ends_with("_token")) continue;
    if (value.is_string()) {
      tokens.emplace(key, value.get<std::string>());
    } else if (const auto content = value.is_object() ? value.find("content") : value.end();
               content != value.end() && content->is_string()) {
      tokens.emplace(key, content->get<std::string>());
    }
  }
  return tokens;
}

}  // namespace plumbline::pipeline
