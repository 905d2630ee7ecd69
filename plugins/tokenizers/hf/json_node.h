// json_node.h: typed questions to a JSON value that knows where in its file it stands.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plumb/sdk/result.h"
#include "plumb/sdk/utf8.h"

namespace plumbline::tokenizers::hf {

class JsonNode {
 public:
  JsonNode(simdjson::dom::element value, std::string path)
      : value_(value), path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  simdjson::dom::element raw() const { return value_; }

  Error error(const std::string& what, plumb_status status = PLUMB_CORRUPT) const {
    return {status, path_ + ": " + what};
  }

  /// A member; none if this is no object, has no such member, or it is null.
  std::optional<JsonNode> find(std::string_view key) const {
    simdjson::dom::element found;
    if (value_[key].get(found) != simdjson::SUCCESS || found.is_null()) return std::nullopt;
    return JsonNode(found, member_path(key));
  }
  /// A member that has to be there.
  Result<JsonNode> at(std::string_view key) const {
    if (auto found = find(key)) return *std::move(found);
    return Error{PLUMB_CORRUPT, member_path(key) + ": missing"};
  }

  Result<std::string_view> text() const {
    std::string_view text;
    if (value_.get(text) != simdjson::SUCCESS) return error("a string expected");
    return text;
  }
  Result<bool> flag() const {
    bool flag = false;
    if (value_.get(flag) != simdjson::SUCCESS) return error("true or false expected");
    return flag;
  }
  Result<uint64_t> count() const {
    uint64_t count = 0;
    if (value_.get(count) != simdjson::SUCCESS) return error("a number from 0 on expected");
    return count;
  }
  Result<char32_t> character() const {
    PLUMB_ASSIGN(const std::string_view all, text());
    if (all.empty() || utf8::decode(all, 0).n_bytes != all.size())
      return error("one character expected");
    return utf8::decode(all, 0).code_point;
  }
  Result<std::vector<JsonNode>> items() const {
    simdjson::dom::array array;
    if (value_.get(array) != simdjson::SUCCESS) return error("a list expected");
    std::vector<JsonNode> items;
    for (const simdjson::dom::element one : array)
      items.emplace_back(one, path_ + "[" + std::to_string(items.size()) + "]");
    return items;
  }

  Result<std::string_view> text_at(std::string_view key) const {
    PLUMB_ASSIGN(const JsonNode node, at(key));
    return node.text();
  }
  Result<bool> flag_at(std::string_view key) const {
    PLUMB_ASSIGN(const JsonNode node, at(key));
    return node.flag();
  }
  Result<bool> flag_at(std::string_view key, bool otherwise) const {
    const auto node = find(key);
    return node ? node->flag() : Result<bool>(otherwise);
  }
  Result<std::string_view> text_at(std::string_view key, std::string_view otherwise) const {
    const auto node = find(key);
    return node ? node->text() : Result<std::string_view>(otherwise);
  }

 private:
  std::string member_path(std::string_view key) const {
    return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
  }

  simdjson::dom::element value_;
  std::string path_;
};

}  // namespace plumbline::tokenizers::hf
