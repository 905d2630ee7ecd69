#pragma once

#include <cstddef>
#include <string_view>

/// A text in a text, in linear time whatever the two are: string_view's own search is quadratic
/// ("aaab" in "aaaaaaaa"), and a template's fuel is counted by the length of what it reads.
namespace plumbline::templates::jinja::text {

/// Offset of the first `wanted` at or behind `from`, or npos.
std::size_t find(std::string_view s, std::string_view wanted, std::size_t from = 0);

/// Offset of the last `wanted`, or npos.
std::size_t find_last(std::string_view s, std::string_view wanted);

}  // namespace plumbline::templates::jinja::text
