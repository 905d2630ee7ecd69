#include "core/pipeline/message_checks.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace plumbline::pipeline {
namespace {

using Json = nlohmann::ordered_json;

std::string shown(const Json* value) {
  if (value == nullptr) return "nothing";
  switch (value->type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "a list";
    case Json::value_t::string:
      return "a text";
    case Json::value_t::boolean:
      return "a boolean";
    default:
      return "a number";
  }
}

std::string in_quotes(const std::string& key) {
  constexpr size_t kShownBytesMax = 40;
  return Json(key.substr(0, kShownBytesMax)).dump(-1, ' ', true, Json::error_handler_t::replace);
}

Error wrong(const std::string& where, const Json* seen, const char* expected) {
  return {PLUMB_INVALID_ARGUMENT, where + ": " + shown(seen) + ", expected " + expected};
}

const Json* find(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string item(const std::string& list, size_t index) {
  return list + "[" + std::to_string(index) + "]";
}

Result<void> check_list_of_objects(const Json* list, const std::string& where) {
  if (list == nullptr || list->is_null()) return {};
  if (!list->is_array()) return wrong(where, list, "a list of objects");
  for (size_t i = 0; i < list->size(); ++i) {
    if (!(*list)[i].is_object()) return wrong(item(where, i), &(*list)[i], "an object");
  }
  return {};
}

Result<void> check_content(const Json* content, const std::string& where) {
  if (content == nullptr || content->is_null() || content->is_string() || content->is_object())
    return {};
  if (!content->is_array()) return wrong(where, content, "a text or a list of parts");
  for (size_t i = 0; i < content->size(); ++i) {
    const Json& part = (*content)[i];
    if (part.is_string()) continue;
    if (!part.is_object()) return wrong(item(where, i), &part, "an object with a type");
    const Json* text = find(part, "text");
    if (text != nullptr && !text->is_string())
      return wrong(item(where, i) + ".text", text, "a text");
  }
  return {};
}

Result<void> check_tool_calls(const Json* calls, const std::string& where) {
  PLUMB_TRY(check_list_of_objects(calls, where));
  if (calls == nullptr || calls->is_null()) return {};
  for (size_t i = 0; i < calls->size(); ++i) {
    const Json* inner = find((*calls)[i], "function");
    if (inner != nullptr && !inner->is_object())
      return wrong(item(where, i) + ".function", inner, "an object with name and arguments");
    const Json& call = inner == nullptr ? (*calls)[i] : *inner;
    const std::string at = item(where, i) + (inner == nullptr ? "" : ".function");
    const Json* name = find(call, "name");
    if (name == nullptr || !name->is_string()) return wrong(at + ".name", name, "a text");
    const Json* arguments = find(call, "arguments");
    if (arguments != nullptr && !arguments->is_null() && !arguments->is_object() &&
        !arguments->is_string())
      return wrong(at + ".arguments", arguments, "an object, or JSON as a text");
  }
  return {};
}

// A letter or _, then letters, digits and _: nothing that can pass for a marker. Templates may
// write the keys of a message, and nobody tells whose they are.
bool is_name(std::string_view key) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto is_inner = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
  return !key.empty() && is_letter(key.front()) && std::ranges::all_of(key, is_inner);
}

Result<void> check_message(const Json& message, const std::string& where) {
  if (!message.is_object()) return wrong(where, &message, "an object with a role");
  for (const auto& [key, value] : message.items()) {
    if (is_name(key)) continue;
    return Error{PLUMB_INVALID_ARGUMENT, where + ": the key " + in_quotes(key) +
                                             ", expected a name of letters, digits and _"};
  }
  const Json* role = find(message, "role");
  if (role == nullptr || !role->is_string()) return wrong(where + ".role", role, "a text");
  PLUMB_TRY(check_content(find(message, "content"), where + ".content"));
  return check_tool_calls(find(message, "tool_calls"), where + ".tool_calls");
}

}  // namespace

Result<void> check_conversation(const Json& input) {
  const Json* messages = input.is_object() ? find(input, "messages") : &input;
  if (messages == nullptr || !messages->is_array())
    return wrong("messages", messages, "an array, or an object with the key messages");
  for (size_t i = 0; i < messages->size(); ++i)
    PLUMB_TRY(check_message((*messages)[i], item("messages", i)));
  if (!input.is_object()) return {};
  for (const char* key : {"tools", "documents"})
    PLUMB_TRY(check_list_of_objects(find(input, key), key));
  return {};
}

}  // namespace plumbline::pipeline
