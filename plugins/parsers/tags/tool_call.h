// tool_call.h: what stands between the tags of a tool call.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace plumbline::parsers::tags {

/// {"name": ..., "arguments": {...}} as JSON; empty if the text is none.
std::optional<std::string> read_tool_call(std::string_view text);

}  // namespace plumbline::parsers::tags
