// raw_prompt.h: messages to a prompt by putting their contents one after the other. README.md has
// the format.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "plumb/base.h"
#include "plumb/sdk/result.h"

namespace plumbline::templates::raw {

struct Frame {
  std::string prefix;
  std::string suffix;
};

struct Options {
  std::string separator;
  std::map<std::string, Frame, std::less<>> roles;
};

/// Fails INVALID_CONFIG: no JSON object, an unknown key, a wrong type.
Result<Options> read_options(std::string_view json);

struct Prompt {
  std::string text;
  std::vector<plumb_span> untrusted;  // sorted, disjoint, never side by side
};

/// untrusted_json: the request's JSON pointers; empty: none.
/// Fails INVALID_ARGUMENT: a context without messages, a message that has no role or a content that
/// is no text, a pointer that leads nowhere.
Result<Prompt> render(const Options& options, std::string_view context_json,
                      std::string_view untrusted_json);

}  // namespace plumbline::templates::raw
