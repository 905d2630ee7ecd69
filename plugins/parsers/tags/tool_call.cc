#include "tool_call.h"

#include <nlohmann/json.hpp>

namespace plumbline::parsers::tags {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kDepthMax = 100;  // the JSON library copies and writes by recursion

}  // namespace

std::optional<std::string> read_tool_call(std::string_view text) {
  bool is_too_deep = false;
  const auto keep = [&](int depth, Json::parse_event_t, Json&) {
    is_too_deep |= depth > kDepthMax;
    return !is_too_deep;
  };
  const Json call = Json::parse(text, keep, false);
  if (is_too_deep || !call.is_object()) return std::nullopt;
  const auto name = call.find("name");
  if (name == call.end() || !name->is_string() || name->get_ref<const std::string&>().empty())
    return std::nullopt;
  const auto arguments = call.find("arguments");
  if (arguments != call.end() && !arguments->is_object()) return std::nullopt;
  const Json event{{"name", *name},
                   {"arguments", arguments == call.end() ? Json::object() : *arguments}};
  return event.dump();
}

}  // namespace plumbline::parsers::tags
