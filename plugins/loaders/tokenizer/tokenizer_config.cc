#include "tokenizer_config.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace plumbline::loaders::tokenizer {
namespace {

using Json = nlohmann::json;

constexpr size_t kConfigBytesMax = size_t{1} << 26;
constexpr size_t kTemplatesMax = 64;

Error corrupt(const std::string& message) {
  return {PLUMB_CORRUPT, message};
}

bool is_plain_word(const std::string& name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '-';
  });
}

Result<Json> parse_object(std::string_view text) {
  if (text.size() > kConfigBytesMax) {
    return corrupt(std::to_string(text.size()) + " bytes, expected at most " +
                   std::to_string(kConfigBytesMax));
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  try {
    Json json = Json::parse(text);
    if (!json.is_object()) return corrupt("expected a JSON object");
    return json;
  } catch (const Json::parse_error& error) {
    return corrupt("byte " + std::to_string(error.byte) + ": broken JSON");
  }
}

}  // namespace

Result<ChatTemplates> read_chat_templates(std::string_view config_json) {
  PLUMB_ASSIGN(const Json config, parse_object(config_json));
  const auto found = config.find("chat_template");
  if (found == config.end() || found->is_null()) return ChatTemplates();
  if (found->is_string()) return ChatTemplates{{"default", found->get<std::string>()}};
  if (!found->is_array() || found->size() > kTemplatesMax) {
    return corrupt("chat_template: expected a text, or a list of at most " +
                   std::to_string(kTemplatesMax) + " named templates");
  }
  ChatTemplates templates;
  for (size_t i = 0; i < found->size(); ++i) {
    const std::string where = "chat_template[" + std::to_string(i) + "]";
    const Json& entry = (*found)[i];
    const auto text = [&](const char* key) -> const std::string* {
      const auto value = entry.is_object() ? entry.find(key) : entry.end();
      return value != entry.end() && value->is_string() ? value->get_ptr<const std::string*>()
                                                        : nullptr;
    };
    const std::string* const name = text("name");
    const std::string* const source = text("template");
    if (name == nullptr || source == nullptr)
      return corrupt(where + ": expected an object with the texts name and template");
    if (!is_plain_word(*name))
      return corrupt(where + ".name: expected a word of letters, digits, _ and -");
    const bool is_there = std::any_of(templates.begin(), templates.end(),
                                      [&](const auto& other) { return other.first == *name; });
    if (is_there) return corrupt(where + ": the name " + *name + " is there twice");
    templates.emplace_back(*name, *source);
  }
  if (templates.size() == 1) templates.front().first = "default";
  return templates;
}

}  // namespace plumbline::loaders::tokenizer
