#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime.h"

namespace plumbline::templates::jinja {

/// Appends repr(value), Python's way of showing it; fails the render when it gets too long or deep.
void append_repr(Runtime& rt, Text& out, const Value& value, int depth = 0);

/// Appends str(value), except that undefined values print nothing: profiles are the runtime's
/// business.
void append_text(Runtime& rt, Text& out, const Value& value);

/// repr(float): the shortest digits that read back as the same double, in Python's notation.
std::string float_text(double d);

/// False when the text under construction has used up the render's fuel or the nesting bound.
bool may_go_on(Runtime& rt, const Text& out, int depth);

/// The last n_digits of a code point in hexadecimal.
void append_hex(std::string& out, char32_t point, int n_digits);

struct JsonStyle {
  bool ascii_only = false;
  bool sort_keys = false;
  std::optional<std::string_view> indent;  // one level of it
  std::string_view item_separator = ", ";
  std::string_view key_separator = ": ";
  bool html_safe = false;  // < > & ' and U+2028, U+2029 as \u escapes
};

/// Appends json.dumps(value) in the given style; a value that JSON does not know is a type error.
void append_json(Runtime& rt, Text& out, const Value& value, const JsonStyle& style);

}  // namespace plumbline::templates::jinja
