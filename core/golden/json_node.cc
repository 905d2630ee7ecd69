#include "core/golden/json_node.h"

#include <algorithm>
#include <cmath>

namespace plumbline::golden {
namespace {

using nlohmann::json;

constexpr int kDepthMax = 32;
constexpr size_t kShownBytes = 60;

const json kNothing;

std::string shown(const json& value) {
  if (value.is_null()) return "nothing";
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list of " + std::to_string(value.size());
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > kShownBytes) text = text.substr(0, kShownBytes) + "...";
  return text;
}

}  // namespace

Result<json> parse_untrusted(std::string_view text, const std::string& where) {
  bool is_too_deep = false;
  const auto keep = [&](int depth, json::parse_event_t, json&) {
    is_too_deep |= depth > kDepthMax;
    return !is_too_deep;
  };
  json parsed = json::parse(text, keep, false);
  if (is_too_deep) {
    return Error{PLUMB_CORRUPT,
                 where + ": nested deeper than " + std::to_string(kDepthMax) + " levels"};
  }
  if (parsed.is_discarded()) return Error{PLUMB_CORRUPT, where + ": expected JSON"};
  return parsed;
}

JsonNode JsonNode::operator[](const char* key) const {
  const json* member = &kNothing;
  if (json_->is_object()) {
    const auto found = json_->find(key);
    if (found != json_->end()) member = &*found;
  } else if (!json_->is_null()) {
    refuse("an object");
  }
  return {*member, where_ + "." + key, *mistake_};
}

std::vector<JsonNode> JsonNode::items(size_t most) const {
  std::vector<JsonNode> all;
  if (!json_->is_array() || json_->size() > most) {
    refuse("a list of at most " + std::to_string(most));
    return all;
  }
  all.reserve(json_->size());
  for (size_t i = 0; i < json_->size(); ++i)
    all.emplace_back((*json_)[i], where_ + "[" + std::to_string(i) + "]", *mistake_);
  return all;
}

std::vector<std::pair<std::string, JsonNode>> JsonNode::members(size_t most) const {
  std::vector<std::pair<std::string, JsonNode>> all;
  if (!json_->is_object() || json_->size() > most) {
    refuse("an object of at most " + std::to_string(most) + " members");
    return all;
  }
  for (const auto& [key, value] : json_->items())
    all.emplace_back(key, JsonNode(value, where_ + "." + key, *mistake_));
  return all;
}

std::string JsonNode::dump() const {
  return json_->dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string JsonNode::text() const {
  if (json_->is_string()) return json_->get<std::string>();
  refuse("a text");
  return {};
}

std::string JsonNode::sha256() const {
  std::string digits = json_->is_string() ? json_->get<std::string>() : "";
  const bool is_right = digits.size() == 64 && std::ranges::all_of(digits, [](char c) {
                          return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
                        });
  if (is_right) return digits;
  refuse("64 lower-case hexadecimal digits");
  return {};
}

std::string JsonNode::hex_bytes() const {
  const std::string digits = json_->is_string() ? json_->get<std::string>() : "?";
  const auto value = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    const int high = value(digits[i]), low = value(digits[i + 1]);
    if (high < 0 || low < 0) break;
    bytes += static_cast<char>(high * 16 + low);
  }
  if (bytes.size() * 2 == digits.size()) return bytes;
  refuse("bytes as pairs of lower-case hexadecimal digits");
  return {};
}

std::string JsonNode::file_name() const {
  std::string name = json_->is_string() ? json_->get<std::string>() : "";
  const bool is_right = !name.empty() && name != "." && name != ".." &&
                        name.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
  if (is_right) return name;
  refuse("the name of a file in the bundle's folder");
  return {};
}

uint64_t JsonNode::count() const {
  if (json_->is_number_unsigned()) return json_->get<uint64_t>();
  refuse("a whole number, 0 or more");
  return 0;
}

int32_t JsonNode::id() const {
  if (json_->is_number_unsigned() && json_->get<uint64_t>() <= INT32_MAX)
    return static_cast<int32_t>(json_->get<uint64_t>());
  refuse("a token id");
  return 0;
}

double JsonNode::number() const {
  if (json_->is_number() && std::isfinite(json_->get<double>())) return json_->get<double>();
  refuse("a finite number");
  return 0;
}

void JsonNode::refuse(const std::string& expected) const {
  if (mistake_->has_value()) return;
  *mistake_ = Error{PLUMB_CORRUPT, where_ + ": found " + shown(*json_) + ", expected " + expected};
}

}  // namespace plumbline::golden
