// yaml.h: YAML text -> Value. The only place that knows yaml-cpp.
#pragma once

#include <string>
#include <string_view>

#include "core/config/config_tree.h"

namespace plumbline::config {

/// Limits on hostile input: a config is pages of text, not data. Lists of stops are the longest
/// that were seen, with ten thousand.
inline constexpr size_t kFileBytesMax = 1u << 20;
inline constexpr size_t kNodesMax = 1u << 16;  // aliases count as what they stand for
inline constexpr size_t kDepthMax = 32;

/// Parses one document. name is what origins and messages call the text.
/// Fails INVALID_CONFIG with name:line:column for bad syntax, a duplicate key, a key that is not
/// text, a tag, a second document, text that is not UTF-8, or more than the limits.
Result<Value> parse_yaml(std::string_view text, const std::string& name);

/// Parses the value of `--set key=value`, whose nodes all have the origin given.
Result<Value> parse_yaml_value(std::string_view text, const Origin& origin);

/// Reads and parses a regular file. Fails NOT_FOUND (path and reason), INVALID_CONFIG as above.
Result<Value> read_yaml_file(const std::string& path);

}  // namespace plumbline::config
