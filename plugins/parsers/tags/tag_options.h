// tag_options.h: which tags are looked for. README.md has the format.
#pragma once

#include <string>
#include <string_view>

#include "plumb/sdk/result.h"

namespace plumbline::parsers::tags {

/// Both empty: there are no such blocks. Else neither is.
struct Pair {
  std::string open;
  std::string close;
};

struct Options {
  Pair reasoning = {"<think>", "</think>"};
  Pair tool_call = {"<tool_call>", "</tool_call>"};
  bool starts_in_reasoning = false;
};

/// Fails INVALID_CONFIG: no JSON object, an unknown key, a wrong type, a tag that is empty or too
/// long, one opening tag that begins another.
Result<Options> read_options(std::string_view json);

}  // namespace plumbline::parsers::tags
