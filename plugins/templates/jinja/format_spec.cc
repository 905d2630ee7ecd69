#include "format_spec.h"

#include <charconv>
#include <cmath>
#include <cstdio>

#include "printing.h"

namespace plumbline::templates::jinja {
namespace {

std::string grouped(std::string digits, char separator, std::size_t group) {
  if (separator == 0) return digits;
  for (std::size_t at = digits.size(); at > group;) digits.insert(at -= group, 1, separator);
  return digits;
}

/// Puts sign and body into the width.
Value padded(Runtime& rt, const FormatSpec& spec, std::string_view sign, std::string_view body,
             char default_align) {
  const char align = spec.align != 0 ? spec.align : default_align;
  const auto n = static_cast<std::int64_t>(text::count_points(sign) + text::count_points(body));
  const std::int64_t missing = std::max<std::int64_t>(0, spec.width - n);
  const std::int64_t left = align == '<' ? 0 : align == '^' ? missing / 2 : missing;
  Text out(rt);
  if (align == '=') out.add(sign);
  for (std::int64_t i = 0; i < left; ++i) out.add(spec.fill);
  if (align != '=') out.add(sign);
  out.add(body);
  for (std::int64_t i = left; i < missing; ++i) out.add(spec.fill);
  return out.value();
}

std::string sign_text(const FormatSpec& spec, bool negative) {
  if (negative) return "-";
  return spec.sign == '-' ? "" : std::string(1, spec.sign);
}

/// printf's e, f, g of a magnitude, with Python's spelling of what is not finite.
std::string float_digits(double magnitude, char type, int precision, bool alternate) {
  if (std::isnan(magnitude)) return "nan";
  if (std::isinf(magnitude)) return "inf";
  char buffer[1024];
  const char format[] = {'%',
                         alternate ? '#' : '.',
                         alternate ? '.' : '*',
                         alternate ? '*' : type,
                         alternate ? type : '\0',
                         '\0'};
  std::snprintf(buffer, sizeof buffer, format, precision, magnitude);
  return buffer;
}

}  // namespace

Value format_integer(Runtime& rt, const FormatSpec& spec, std::int64_t i) {
  const char type =
      spec.type == 0 || spec.type == 'n' || spec.type == 'i' || spec.type == 'u' ? 'd' : spec.type;
  const int base = type == 'x' || type == 'X' ? 16 : type == 'o' ? 8 : type == 'b' ? 2 : 10;
  const std::uint64_t magnitude =
      i < 0 ? 0 - static_cast<std::uint64_t>(i) : static_cast<std::uint64_t>(i);
  char buffer[65];
  std::string digits(buffer, std::to_chars(buffer, buffer + sizeof buffer, magnitude, base).ptr);
  if (spec.precision > 0 && digits.size() < static_cast<std::size_t>(spec.precision)) {
    digits.insert(0, static_cast<std::size_t>(spec.precision) - digits.size(), '0');
  }
  digits = grouped(digits, spec.grouping, base == 10 ? 3 : 4);
  if (type == 'X') digits = text::upper(digits);
  std::string sign = sign_text(spec, i < 0);
  if (spec.alternate && base != 10) sign += std::string("0") + type;
  return padded(rt, spec, sign, digits, '>');
}

Value format_float(Runtime& rt, const FormatSpec& spec, double d) {
  const bool negative = std::signbit(d) && !std::isnan(d);
  const double magnitude = std::fabs(d);
  std::string digits;
  if (spec.type == 0 && spec.precision < 0) {
    digits = float_text(magnitude);
  } else if (spec.type == '%') {
    digits = float_digits(magnitude * 100, 'f', spec.precision < 0 ? 6 : spec.precision,
                          spec.alternate) +
             "%";
  } else {
    const char lower_type =
        static_cast<char>(spec.type == 0 || spec.type == 'n' ? 'g' : spec.type | 0x20);
    digits = float_digits(magnitude, lower_type, spec.precision < 0 ? 6 : spec.precision,
                          spec.alternate);
    if (spec.type >= 'A' && spec.type <= 'Z') digits = text::upper(digits);
  }
  if (spec.grouping != 0) {
    const std::size_t whole = std::min(digits.find_first_not_of("0123456789"), digits.size());
    digits = grouped(digits.substr(0, whole), spec.grouping, 3) + digits.substr(whole);
  }
  return padded(rt, spec, sign_text(spec, negative), digits, '>');
}

Value format_string(Runtime& rt, const FormatSpec& spec, const Value& s) {
  std::string_view shown = s.view();
  if (spec.precision >= 0)
    shown = shown.substr(0, text::offset_of_point(shown, static_cast<std::size_t>(spec.precision)));
  if (spec.width == 0) return Runtime::part_of(s, shown);
  return padded(rt, spec, "", shown, '<');
}

Value repr_of(Runtime& rt, const Value& v) {
  Text out(rt);
  append_repr(rt, out, v);
  return out.value();
}

Value wrong_format_type(Runtime& rt, char type, const Value& v) {
  if (v.is_undefined()) return rt.fail_undefined(v);
  return rt.fail(ErrorKind::type, std::string("format '") + type + "' of '" +
                                      std::string(type_name(v)) +
                                      "' seen, a matching type expected");
}

std::int64_t read_format_number(Runtime& rt, std::string_view s, std::size_t& at,
                                std::int64_t most) {
  std::int64_t n = 0;
  while (at < s.size() && s[at] >= '0' && s[at] <= '9') {
    n = n * 10 + (s[at++] - '0');
    if (n > most) {
      rt.fail(ErrorKind::limit,
              "format: width or precision over " + std::to_string(most) + " seen");
      return 0;
    }
  }
  return n;
}

}  // namespace plumbline::templates::jinja
