#include "core/diff/text_signatures/tokenizer_json.h"

#include <algorithm>

namespace plumbline::diff {
namespace {

constexpr int kDepthMax = 32;  // the JSON library copies and writes by recursion

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

size_t skip_spaces(std::string_view text, size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

/// Behind the string that opens at `at`.
size_t end_of_string(std::string_view text, size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return text.size();
}

/// Behind the value that begins at `at`.
size_t end_of_value(std::string_view text, size_t at) {
  size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = end_of_string(text, at);
      if (depth == 0) return at;
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') {
      if (depth == 0) return at;
      if (--depth == 0) return at + 1;
    }
    if (depth == 0 && (c == ',' || is_space(c))) return at;
    ++at;
  }
  return at;
}

/// The value of an object's member; no data where there is none.
std::string_view member(std::string_view object, std::string_view key) {
  size_t at = skip_spaces(object, 0);
  if (at >= object.size() || object[at] != '{') return {};
  at = skip_spaces(object, at + 1);
  while (at < object.size() && object[at] == '"') {
    const size_t end = end_of_string(object, at);
    const std::string_view name = object.substr(at + 1, end - at - 2);
    at = skip_spaces(object, end);
    if (at >= object.size() || object[at] != ':') return {};
    at = skip_spaces(object, at + 1);
    const size_t value_end = end_of_value(object, at);
    if (name == key) return object.substr(at, value_end - at);
    at = skip_spaces(object, value_end);
    if (at < object.size() && object[at] == ',') at = skip_spaces(object, at + 1);
  }
  return {};
}

}  // namespace

std::string_view TokenizerJson::raw(const std::vector<std::string_view>& path) const {
  std::string_view value = text_;
  for (const std::string_view key : path) value = member(value, key);
  return value;
}

Json TokenizerJson::section(const std::vector<std::string_view>& path) const {
  const std::string_view found = raw(path);
  if (found.empty()) return nullptr;
  bool is_too_deep = false;
  const auto keep = [&](int depth, Json::parse_event_t, Json&) {
    is_too_deep |= depth > kDepthMax;
    return !is_too_deep;
  };
  Json parsed = Json::parse(found, keep, false);
  return parsed.is_discarded() || is_too_deep ? Json(nullptr) : parsed;
}

std::optional<std::string> TokenizerJson::with(const std::vector<std::string_view>& path,
                                               std::string_view value) const {
  if (const std::string_view old = raw(path); !old.empty()) {
    const auto begin = static_cast<size_t>(old.data() - text_.data());
    std::string out(text_.substr(0, begin));
    return out.append(value).append(text_.substr(begin + old.size()));
  }
  const std::string_view object = raw({path.begin(), path.end() - 1});
  const size_t open = object.find('{');
  if (open == std::string_view::npos) return std::nullopt;
  const auto begin = static_cast<size_t>(object.data() - text_.data()) + open + 1;
  std::string out(text_.substr(0, begin));
  const bool is_only = object[skip_spaces(object, open + 1)] == '}';
  return out.append("\"")
      .append(path.back())
      .append("\": ")
      .append(value)
      .append(is_only ? "" : ", ")
      .append(text_.substr(begin));
}

std::optional<std::string> TokenizerJson::with(const std::vector<std::string_view>& path,
                                               const Json& value) const {
  return with(path, std::string_view(value.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

std::vector<std::string_view> elements(std::string_view array) {
  std::vector<std::string_view> out;
  size_t at = skip_spaces(array, 0);
  if (at >= array.size() || array[at] != '[') return out;
  at = skip_spaces(array, at + 1);
  while (at < array.size() && array[at] != ']') {
    const size_t end = end_of_value(array, at);
    if (end == at) return out;  // no JSON
    out.push_back(array.substr(at, end - at));
    at = skip_spaces(array, end);
    if (at < array.size() && array[at] == ',') at = skip_spaces(array, at + 1);
  }
  return out;
}

}  // namespace plumbline::diff
