// tokenizer_json.h: sections of a tokenizer.json read and replaced where they stand. The
// vocabulary, which is most of the file, is not parsed.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline::diff {

using Json = nlohmann::ordered_json;

class TokenizerJson {
 public:
  /// text must outlive the object. Nothing can be read of a broken file.
  explicit TokenizerJson(std::string_view text) : text_(text) {}

  /// Null: there is none, or it is broken or too deep. path: {"model", "byte_fallback"}.
  Json section(const std::vector<std::string_view>& path) const;
  /// The whole file with another value there; nothing if what the path leads through is no object.
  std::optional<std::string> with(const std::vector<std::string_view>& path,
                                  std::string_view value) const;
  std::optional<std::string> with(const std::vector<std::string_view>& path,
                                  const Json& value) const;
  /// As it stands there; empty if it does not.
  std::string_view raw(const std::vector<std::string_view>& path) const;

 private:
  std::string_view text_;
};

/// The elements of an array's text, as they stand there.
std::vector<std::string_view> elements(std::string_view array);

}  // namespace plumbline::diff
