#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime.h"

/// What Python's two ways of formatting share: "%s" % x and "{}".format(x).
namespace plumbline::templates::jinja {

inline constexpr int kMaxFormatPrecision =
    300;  // digits after the point; keeps every number within a small buffer
inline constexpr std::int64_t kMaxFormatWidth = 1 << 20;

/// What stands between % or : and the type letter.
struct FormatSpec {
  std::string_view fill = " ";  // in memory of the render, with its marks
  char align = 0;  // < > ^ =
  char sign = '-';  // + or blank: also before positive numbers
  bool alternate = false;
  char grouping = 0;  // , or _
  std::int64_t width = 0;
  int precision = -1;
  char type = 0;
};

Value format_integer(Runtime& rt, const FormatSpec& spec, std::int64_t i);
Value format_float(Runtime& rt, const FormatSpec& spec, double d);
Value format_string(Runtime& rt, const FormatSpec& spec, const Value& s);

/// repr(v).
Value repr_of(Runtime& rt, const Value& v);

/// Fails: a value that the type letter does not fit.
Value wrong_format_type(Runtime& rt, char type, const Value& v);

/// Reads digits at `at`; fails beyond `most`.
std::int64_t read_format_number(Runtime& rt, std::string_view s, std::size_t& at,
                                std::int64_t most);

}  // namespace plumbline::templates::jinja
