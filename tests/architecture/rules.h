// rules.h: the project's rules on source text, as a function of a path and a text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plumbline::architecture {

/// What a source file breaks, one line each: "path:line: ...". path: from the project's root, with
/// slashes.
std::vector<std::string> violations(std::string_view path, std::string_view text);

}  // namespace plumbline::architecture
