// Filters on numbers. Source: jinja2/filters.py.

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "builtins.h"

namespace plumbline::templates::jinja {
namespace {

Value wrong_number(Runtime& rt, std::string_view who, const Value& v) {
  if (v.is_undefined()) return rt.fail_undefined(v);
  return rt.fail(ErrorKind::type, std::string(who) + ": '" + std::string(type_name(v)) +
                                      "' seen, a number expected");
}

Value absolute(Runtime& rt, const Value& v, const Args&) {
  if (v.kind == Kind::floating) return Value::of(std::fabs(v.floating));
  if (!v.is_integral()) return wrong_number(rt, "abs", v);
  const std::int64_t i = v.as_integer();
  return i < 0 ? arithmetic(rt, Operator::minus, Value::of(std::int64_t{0}), v) : Value::of(i);
}

/// Python's round(): to the nearest, ties to even, on the exact decimal value of the double.
double round_decimal(double d, std::int64_t precision) {
  if (!std::isfinite(d) || precision > 330) return d;
  if (precision < -310) return std::copysign(0.0, d);
  if (precision < 0) {
    const double unit = std::pow(10.0, static_cast<double>(-precision));
    return std::nearbyint(d / unit) * unit;
  }
  char buffer[1024];
  std::snprintf(buffer, sizeof buffer, "%.*f", static_cast<int>(precision), d);
  return std::strtod(buffer, nullptr);
}

Value round(Runtime& rt, const Value& v, const Args& args) {
  Bound arg(rt, "round", args, params("precision", "method"), 0);
  if (!arg) return Value();
  const std::int64_t precision = arg.integer(0, 0);
  const std::string_view method = arg.string(1, "common");
  if (!v.is_number()) return wrong_number(rt, "round", v);
  if (method == "common") {
    if (v.kind == Kind::floating) return Value::of(round_decimal(v.floating, precision));
    return precision >= 0
               ? Value::of(v.as_integer())
               : Value::of(static_cast<std::int64_t>(round_decimal(v.as_double(), precision)));
  }
  if (method != "ceil" && method != "floor") {
    return rt.fail(ErrorKind::type, "round: method '" + std::string(method) +
                                        "' seen, common, ceil or floor expected");
  }
  const double unit = std::pow(10.0, static_cast<double>(precision));
  const double scaled = v.as_double() * unit;
  return Value::of((method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / unit);
}

/// Digits with single underscores between them, as Python's int() and float() allow.
bool drop_underscores(std::string_view s, std::string& out) {
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i] != '_') {
      out += s[i];
    } else if (i == 0 || i + 1 == s.size() || s[i - 1] == '_' ||
               !std::isalnum(static_cast<unsigned char>(s[i - 1])) ||
               !std::isalnum(static_cast<unsigned char>(s[i + 1]))) {
      return false;
    }
  }
  return !out.empty();
}

std::optional<double> parse_float(std::string_view s) {
  std::string plain;
  if (!drop_underscores(text::strip_left(text::strip_right(s)), plain)) return std::nullopt;
  const std::string lowered = text::lower(plain);
  const std::string_view unsigned_part =
      std::string_view(lowered).substr(lowered[0] == '+' || lowered[0] == '-' ? 1 : 0);
  if (unsigned_part != "inf" && unsigned_part != "infinity" && unsigned_part != "nan" &&
      unsigned_part.find_first_not_of("0123456789.e+-") != std::string_view::npos) {
    return std::nullopt;  // strtod would also take hexadecimal numbers
  }
  char* end = nullptr;
  const double d = std::strtod(lowered.c_str(), &end);
  if (end != lowered.c_str() + lowered.size()) return std::nullopt;
  return d;
}

std::optional<Value> parse_int(Runtime& rt, std::string_view s, std::int64_t base) {
  std::string plain;
  if (!drop_underscores(text::strip_left(text::strip_right(s)), plain)) return std::nullopt;
  const bool negative = plain[0] == '-';
  std::string_view digits = std::string_view(plain).substr(negative || plain[0] == '+' ? 1 : 0);
  const auto has_prefix = [&](char letter) {
    return digits.size() > 2 && digits[0] == '0' && (digits[1] | 0x20) == letter;
  };
  const std::int64_t prefix_base = has_prefix('x')   ? 16
                                   : has_prefix('o') ? 8
                                   : has_prefix('b') ? 2
                                                     : 0;
  if (prefix_base != 0 && (base == prefix_base || base == 0)) {
    digits.remove_prefix(2);
    base = prefix_base;
  }
  if (base == 0) base = 10;
  if (base < 2 || base > 36 || digits.empty() ||
      !std::isalnum(static_cast<unsigned char>(digits[0])))
    return std::nullopt;
  const std::string signed_digits = (negative ? "-" : "") + std::string(digits);
  std::int64_t value = 0;
  const char* last = signed_digits.data() + signed_digits.size();
  const auto parsed = std::from_chars(signed_digits.data(), last, value, static_cast<int>(base));
  if (parsed.ptr != last) return std::nullopt;
  if (parsed.ec == std::errc::result_out_of_range)
    return rt.fail(ErrorKind::type, "int: number of more than 64 bits seen");
  return Value::of(value);
}

Value int_of_double(Runtime& rt, double d, const Value& otherwise) {
  if (!std::isfinite(d)) return otherwise;
  if (std::fabs(d) >= 9223372036854775808.0)
    return rt.fail(ErrorKind::type, "int: number of more than 64 bits seen");
  return Value::of(static_cast<std::int64_t>(d));
}

Value to_int(Runtime& rt, const Value& v, const Args& args) {
  Bound arg(rt, "int", args, params("default", "base"), 0);
  if (!arg) return Value();
  const Value otherwise = arg.has(0) ? arg[0] : Value::of(std::int64_t{0});
  const std::int64_t base = arg.integer(1, 10);
  if (v.is_integral()) return Value::of(v.as_integer());
  if (v.kind == Kind::big_integer) return v;
  if (v.kind == Kind::floating) {
    if (std::isinf(v.floating)) return rt.fail(ErrorKind::type, "int: an infinite number seen");
    return int_of_double(rt, v.floating, otherwise);
  }
  if (v.is_undefined()) return rt.fail_undefined(v);
  if (!v.is_string()) return otherwise;
  if (const auto parsed = parse_int(rt, v.view(), base)) return *parsed;
  const auto d = parse_float(v.view());
  return d ? int_of_double(rt, *d, otherwise) : otherwise;
}

Value to_float(Runtime& rt, const Value& v, const Args& args) {
  const Bound arg(rt, "float", args, params("default"), 0);
  if (!arg) return Value();
  const Value otherwise = arg.has(0) ? arg[0] : Value::of(0.0);
  if (v.is_number()) return Value::of(v.as_double());
  if (v.is_undefined()) return rt.fail_undefined(v);
  if (!v.is_string() && v.kind != Kind::big_integer) return otherwise;
  const auto d = parse_float(v.view());
  return d ? Value::of(*d) : otherwise;
}

constexpr Filter kNumberFilters[] = {
    {"abs", absolute, kNoArguments}, {"round", round}, {"int", to_int}, {"float", to_float}};

}  // namespace

std::span<const Filter> number_filters() {
  return kNumberFilters;
}

}  // namespace plumbline::templates::jinja
