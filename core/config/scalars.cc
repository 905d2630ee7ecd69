#include "core/config/scalars.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace plumbline::config {
namespace {

/// All of the text as a number; more: the base of an integer, if it is not ten.
template <typename T, typename... More>
std::optional<T> parse_whole(std::string_view text, More... more) {
  T number{};
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, more...);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_lower_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f');
}

/// Does a plain scalar look like a decimal number? It starts with a digit, or with a sign or point
/// before one.
bool is_number_like(std::string_view text) {
  const size_t at = text.find_first_not_of("+-.");
  return at != std::string_view::npos && at <= 2 && is_digit(text[at]) &&
         text.find_first_not_of("0123456789.eE+-", at) == std::string_view::npos;
}

std::optional<nlohmann::json> plain_scalar(std::string_view text) {
  if (text == "null" || text == "Null" || text == "NULL" || text == "~")
    return nlohmann::json(nullptr);
  if (text == "true" || text == "True" || text == "TRUE") return nlohmann::json(true);
  if (text == "false" || text == "False" || text == "FALSE") return nlohmann::json(false);
  for (const std::string_view word :
       {".inf", "+.inf", "-.inf", ".nan", ".Inf", ".NaN", ".INF", ".NAN"}) {
    if (text == word) return std::nullopt;
  }
  if (text.starts_with("0x") && text.size() > 2) {
    if (const auto number = parse_whole<uint64_t>(text.substr(2), 16))
      return nlohmann::json(*number);
  }
  if (text.starts_with("0o") && text.size() > 2) {
    if (const auto number = parse_whole<uint64_t>(text.substr(2), 8))
      return nlohmann::json(*number);
  }
  if (is_number_like(text)) {
    const std::string_view unsigned_text = text.starts_with('+') ? text.substr(1) : text;
    if (const auto number = parse_whole<int64_t>(unsigned_text)) return nlohmann::json(*number);
    if (const auto number = parse_whole<uint64_t>(unsigned_text)) return nlohmann::json(*number);
    if (const auto number = parse_whole<double>(unsigned_text)) {
      if (!std::isfinite(*number)) return std::nullopt;
      return nlohmann::json(*number);
    }
  }
  return nlohmann::json(text);
}

}  // namespace

std::optional<uint64_t> as_integer(const Value& value) {
  if (value.kind != Value::Kind::kScalar || value.is_quoted) return std::nullopt;
  return parse_whole<uint64_t>(value.text);
}

std::optional<bool> as_switch(const Value& value) {
  if (value.kind != Value::Kind::kScalar || value.is_quoted) return std::nullopt;
  if (value.text == "true") return true;
  if (value.text == "false") return false;
  return std::nullopt;
}

std::optional<LayerRange> as_layers(std::string_view text) {
  if (text == "all") return LayerRange{};
  const size_t dash = text.find('-');
  const auto first = parse_whole<uint32_t>(text.substr(0, dash));
  const auto last =
      dash == std::string_view::npos ? first : parse_whole<uint32_t>(text.substr(dash + 1));
  if (!first || !last || *first > *last) return std::nullopt;
  return LayerRange{*first, *last};
}

bool is_name(std::string_view text) {
  constexpr size_t kBytesMax = 128;
  return !text.empty() && text.size() <= kBytesMax && text.front() != '.' && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
                  c == '_' || c == '-';
         });
}

bool is_sha256(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), is_lower_hex);
}

std::optional<nlohmann::json> as_json(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNull:
      return nlohmann::json(nullptr);
    case Value::Kind::kScalar:
      if (value.is_quoted) return nlohmann::json(value.text);
      return plain_scalar(value.text);
    case Value::Kind::kList: {
      nlohmann::json list = nlohmann::json::array();
      for (const Value& item : value.items) {
        auto json = as_json(item);
        if (!json) return std::nullopt;
        list.push_back(std::move(*json));
      }
      return list;
    }
    case Value::Kind::kMap: {
      nlohmann::json map = nlohmann::json::object();
      for (const Entry& entry : value.entries) {
        auto json = as_json(entry.value);
        if (!json) return std::nullopt;
        map[entry.key] = std::move(*json);
      }
      return map;
    }
  }
  return std::nullopt;
}

}  // namespace plumbline::config
