// json_node.h: JSON that nobody vouches for, read with a place for every mistake.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plumb/sdk/result.h"

namespace plumbline::golden {

/// Fails CORRUPT: no JSON, or nested so deep that copying it could exhaust the stack.
Result<nlohmann::json> parse_untrusted(std::string_view text, const std::string& where);

/// A value inside a JSON text and the way to it. What is missing or of another kind leaves a
/// mistake (the first is kept) and reads as nothing, so that a reader asks once, at its end.
class JsonNode {
 public:
  JsonNode(const nlohmann::json& json, std::string where, std::optional<Error>& mistake)
      : json_(&json), where_(std::move(where)), mistake_(&mistake) {}

  /// A member; one that is not there reads as null.
  JsonNode operator[](const char* key) const;
  bool is_null() const { return json_->is_null(); }
  /// The elements of an array of at most `most`.
  std::vector<JsonNode> items(size_t most) const;

  /// The members of an object of at most `most`.
  std::vector<std::pair<std::string, JsonNode>> members(size_t most) const;
  /// The value as compact JSON.
  std::string dump() const;

  std::string text() const;
  /// 64 lower-case hexadecimal digits.
  std::string sha256() const;
  /// Bytes as pairs of lower-case hexadecimal digits.
  std::string hex_bytes() const;
  /// The name of a file beside the one that is read: no path.
  std::string file_name() const;
  uint64_t count() const;
  int32_t id() const;
  double number() const;
  void refuse(const std::string& expected) const;
  const std::string& where() const { return where_; }

 private:
  const nlohmann::json* json_;
  std::string where_;
  std::optional<Error>* mistake_;
};

}  // namespace plumbline::golden
