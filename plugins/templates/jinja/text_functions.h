#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime.h"

/// What filters and methods on strings share.
namespace plumbline::templates::jinja {

/// markupsafe's escape: & < > " ' as entities; markup stays as it is.
Value escaped(Runtime& rt, const Value& s);

/// str.strip: white space when `points` is absent or None.
Value strip(Runtime& rt, const Value& s, const Value& points, bool left, bool right);

/// str.replace; count < 0: all.
Value replace_text(Runtime& rt, const Value& s, std::string_view from, std::string_view to,
                   std::int64_t count);

struct Line {
  std::size_t n_bytes;
  std::size_t n_end_bytes;  // 0: the text ends here
};
/// Source: Python, str.splitlines: what ends a line.
Line first_line(std::string_view s);

std::vector<std::string_view> split_lines(std::string_view s, bool keep_ends);

enum class Side { left, right, both };

/// Fills up to `width` code points, on the given side of the text.
Value pad(Runtime& rt, const Value& s, std::int64_t width, char32_t fill, Side side);

/// n blanks; an error when the render's memory does not cover them.
std::string spaces(Runtime& rt, std::int64_t n);

}  // namespace plumbline::templates::jinja
