// The methods of Python's str that ask what a text is made of.

#include "builtins.h"

namespace plumbline::templates::jinja {
namespace {

/// True if there is a code point and `fits` holds for each.
template <typename Fits>
Value all_points(Runtime& rt, const Value& self, Fits fits) {
  if (!rt.spend_bytes(8 * std::uint64_t{self.n_bytes})) return Value();
  for (std::size_t at = 0; at < self.n_bytes;) {
    if (!fits(text::next_point(self.view(), at))) return Value::of(false);
  }
  return Value::of(self.n_bytes > 0);
}

Value is_alpha(Runtime& rt, const Value& self, const Args&) {
  return all_points(rt, self, text::is_alpha);
}
Value is_decimal(Runtime& rt, const Value& self, const Args&) {
  return all_points(rt, self, text::is_decimal);
}
Value is_digit(Runtime& rt, const Value& self, const Args&) {
  return all_points(rt, self, text::is_digit);
}
Value is_numeric(Runtime& rt, const Value& self, const Args&) {
  return all_points(rt, self, text::is_numeric);
}
Value is_space(Runtime& rt, const Value& self, const Args&) {
  return all_points(rt, self, text::is_space);
}
Value is_alnum(Runtime& rt, const Value& self, const Args&) {
  return all_points(rt, self, [](char32_t p) { return text::is_alpha(p) || text::is_numeric(p); });
}
Value is_ascii(Runtime&, const Value& self, const Args&) {
  return Value::of(self.is_ascii());
}
Value is_printable(Runtime& rt, const Value& self, const Args&) {
  return self.n_bytes == 0 ? Value::of(true) : all_points(rt, self, text::is_printable);
}

Value is_identifier(Runtime& rt, const Value& self, const Args&) {
  bool first = true;
  return all_points(rt, self, [&](char32_t p) {
    const bool fits = first ? text::is_identifier_start(p) : text::is_identifier_part(p);
    first = false;
    return fits;
  });
}

Value only_case(Runtime& rt, const Value& self, bool (*wanted)(char32_t),
                bool (*unwanted)(char32_t)) {
  if (!rt.spend_bytes(8 * std::uint64_t{self.n_bytes})) return Value();
  bool seen = false;
  for (std::size_t at = 0; at < self.n_bytes;) {
    const char32_t point = text::next_point(self.view(), at);
    if (unwanted(point) || text::is_title(point)) return Value::of(false);
    seen |= wanted(point);
  }
  return Value::of(seen);
}

Value is_upper(Runtime& rt, const Value& self, const Args&) {
  return only_case(rt, self, text::is_upper, text::is_lower);
}
Value is_lower(Runtime& rt, const Value& self, const Args&) {
  return only_case(rt, self, text::is_lower, text::is_upper);
}

/// Upper case only after uncased, lower case only after cased code points.
Value is_title(Runtime& rt, const Value& self, const Args&) {
  if (!rt.spend_bytes(8 * std::uint64_t{self.n_bytes})) return Value();
  bool seen = false;
  bool after_cased = false;
  for (std::size_t at = 0; at < self.n_bytes;) {
    const char32_t point = text::next_point(self.view(), at);
    const bool starts = text::is_upper(point) || text::is_title(point);
    const bool goes_on = text::is_lower(point);
    if ((starts && after_cased) || (goes_on && !after_cased)) return Value::of(false);
    after_cased = starts || goes_on;
    seen |= after_cased;
  }
  return Value::of(seen);
}

constexpr Method kQuestions[] = {
    {"isalpha", is_alpha},     {"isdecimal", is_decimal},     {"isdigit", is_digit},
    {"isnumeric", is_numeric}, {"isspace", is_space},         {"isalnum", is_alnum},
    {"isascii", is_ascii},     {"isprintable", is_printable}, {"isidentifier", is_identifier},
    {"isupper", is_upper},     {"islower", is_lower},         {"istitle", is_title},
};

}  // namespace

std::span<const Method> string_question_methods() {
  return kQuestions;
}

}  // namespace plumbline::templates::jinja
