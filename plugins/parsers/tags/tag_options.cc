#include "tag_options.h"

#include <nlohmann/json.hpp>

namespace plumbline::parsers::tags {
namespace {

using Json = nlohmann::json;

constexpr size_t kTagBytesMax = 256;

Error bad_option(const std::string& what) {
  return {PLUMB_INVALID_CONFIG, "parser options: " + what};
}

Result<std::string> read_tag(const Json& pair, const char* key, const std::string& where) {
  const auto found = pair.find(key);
  const std::string name = where + "." + key;
  if (found == pair.end()) return bad_option("no " + name + ", a text expected");
  if (!found->is_string())
    return bad_option(name + ": " + found->type_name() + " seen, a text expected");
  auto tag = found->get<std::string>();
  if (tag.empty() || tag.size() > kTagBytesMax) {
    return bad_option(name + ": a text of " + std::to_string(tag.size()) + " bytes, 1 to " +
                      std::to_string(kTagBytesMax) + " expected");
  }
  return tag;
}

Result<Pair> read_pair(const Json& value, const std::string& where) {
  if (value.is_null()) return Pair{};
  if (!value.is_object())
    return bad_option(where + ": " + value.type_name() + " seen, open and close expected, or null");
  for (const auto& [key, unused] : value.items()) {
    if (key != "open" && key != "close")
      return bad_option(where + ": unknown key '" + key + "' seen, 'open' or 'close' expected");
  }
  Pair pair;
  PLUMB_ASSIGN(pair.open, read_tag(value, "open", where));
  PLUMB_ASSIGN(pair.close, read_tag(value, "close", where));
  return pair;
}

}  // namespace

Result<Options> read_options(std::string_view json) {
  Options options;
  if (json.empty()) return options;
  const Json read = Json::parse(json, nullptr, false);
  if (!read.is_object()) return bad_option("a JSON object expected");
  for (const auto& [key, value] : read.items()) {
    if (key == "reasoning") {
      PLUMB_ASSIGN(options.reasoning, read_pair(value, key));
    } else if (key == "tool_call") {
      PLUMB_ASSIGN(options.tool_call, read_pair(value, key));
    } else if (key != "starts_in_reasoning") {
      return bad_option("unknown key '" + key +
                        "' seen, 'reasoning', 'tool_call' or 'starts_in_reasoning' expected");
    } else if (!value.is_boolean()) {
      return bad_option(key + ": " + value.type_name() + " seen, true or false expected");
    } else {
      options.starts_in_reasoning = value.get<bool>();
    }
  }
  const std::string& reasoning = options.reasoning.open;
  const std::string& call = options.tool_call.open;
  if (!reasoning.empty() && !call.empty() &&
      (reasoning.starts_with(call) || call.starts_with(reasoning))) {
    return bad_option("the opening tags '" + reasoning + "' and '" + call +
                      "', two that cannot be taken for each other expected");
  }
  if (options.starts_in_reasoning && reasoning.empty())
    return bad_option("starts_in_reasoning without reasoning, tags for it expected");
  return options;
}

}  // namespace plumbline::parsers::tags
