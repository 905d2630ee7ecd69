// Python's two ways of formatting: "%s" % x and "{}".format(x).

#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>

#include "builtins.h"
#include "printing.h"
#include "text_functions.h"

namespace plumbline::templates::jinja {
namespace {

constexpr int kMaxPrecision =
    300;  // digits after the point; keeps every number within a small buffer
constexpr std::int64_t kMaxWidth = 1 << 20;

/// What stands between % or : and the type letter.
struct Spec {
  std::string_view fill = " ";  // in memory of the render, with its marks
  char align = 0;  // < > ^ =
  char sign = '-';  // + or blank: also before positive numbers
  bool alternate = false;
  char grouping = 0;  // , or _
  std::int64_t width = 0;
  int precision = -1;
  char type = 0;
};

std::string grouped(std::string digits, char separator, std::size_t group) {
  if (separator == 0) return digits;
  for (std::size_t at = digits.size(); at > group;) digits.insert(at -= group, 1, separator);
  return digits;
}

/// Puts sign and body into the width.
Value padded(Runtime& rt, const Spec& spec, std::string_view sign, std::string_view body,
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

std::string sign_text(const Spec& spec, bool negative) {
  if (negative) return "-";
  return spec.sign == '-' ? "" : std::string(1, spec.sign);
}

Value format_integer(Runtime& rt, const Spec& spec, std::int64_t i) {
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

Value format_float(Runtime& rt, const Spec& spec, double d) {
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

Value format_string(Runtime& rt, const Spec& spec, const Value& s) {
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

Value wrong_type(Runtime& rt, char type, const Value& v) {
  if (v.is_undefined()) return rt.fail_undefined(v);
  return rt.fail(ErrorKind::type, std::string("format '") + type + "' of '" +
                                      std::string(type_name(v)) +
                                      "' seen, a matching type expected");
}

/// Reads digits at `at`; fails beyond `most`.
std::int64_t read_number(Runtime& rt, std::string_view s, std::size_t& at, std::int64_t most) {
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

// "%s" % x --------------------------------------------------------------------------------------

class PercentFormatter {
 public:
  PercentFormatter(Runtime& rt, const Value& format, const Value& values)
      : rt_(rt), format_(format.view()), escapes_(format.is_markup()), values_(values) {
    if (values.kind == Kind::list && values.list->flavor == Flavor::tuple) {
      queue_ = values.list->items;
    } else {
      queue_ = {&values_, 1};
      single_ = true;
    }
  }

  Value run() {
    Text out(rt_);
    while (at_ < format_.size() && !rt_.failed()) {
      const std::size_t percent = format_.find('%', at_);
      out.add(format_.substr(at_, percent == std::string_view::npos ? percent : percent - at_));
      if (percent == std::string_view::npos) break;
      at_ = percent + 1;
      const Value part = directive();
      if (!out.add(part.view())) return Value();
    }
    // Python lets anything with subscripts that is no string or tuple be left over: it could be a
    // mapping.
    const bool may_be_left = single_ && (values_.kind == Kind::dict || values_.kind == Kind::list ||
                                         values_.kind == Kind::range || values_.is_undefined());
    if (!rt_.failed() && next_ < queue_.size() && !used_mapping_ && !may_be_left) {
      return rt_.fail(ErrorKind::type, "format: not all arguments were converted");
    }
    if (rt_.failed()) return Value();
    return escapes_ ? out.value().as_markup() : out.value();
  }

 private:
  char peek() const { return at_ < format_.size() ? format_[at_] : '\0'; }

  Value next_value() {
    if (next_ < queue_.size()) return queue_[next_++];
    return rt_.fail(ErrorKind::type, "format: not enough arguments");
  }

  Value directive() {
    Spec spec;
    Value named = Value::absent();
    if (peek() == '(') {
      const std::size_t close = format_.find(')', at_);
      if (close == std::string_view::npos || values_.kind != Kind::dict) {
        return rt_.fail(ErrorKind::type, "format: '%(name)' needs a mapping");
      }
      const std::string_view name = format_.substr(at_ + 1, close - at_ - 1);
      const Value* found = find(rt_, *values_.dict, name);
      if (found == nullptr)
        return rt_.fail(ErrorKind::type, "format: no value named '" + std::string(name) + "'");
      named = *found;
      used_mapping_ = true;
      at_ = close + 1;
    }
    bool zero = false;
    for (; std::string_view("#0- +").find(peek()) != std::string_view::npos && peek() != '\0';
         ++at_) {
      if (peek() == '#') spec.alternate = true;
      if (peek() == '-') spec.align = '<';
      if (peek() == '0') zero = true;
      if (peek() == '+' || (peek() == ' ' && spec.sign != '+')) spec.sign = peek();
    }
    if (peek() == '*') {
      ++at_;
      const Value width = next_value();
      if (!width.is_integral()) return wrong_type(rt_, '*', width);
      if (width.as_integer() < 0) spec.align = '<';
      if (width.as_integer() > kMaxWidth || width.as_integer() < -kMaxWidth)
        return rt_.fail(ErrorKind::limit, "format: width too large");
      spec.width = std::abs(width.as_integer());
    } else {
      spec.width = read_number(rt_, format_, at_, kMaxWidth);
    }
    if (peek() == '.') {
      ++at_;
      spec.precision = static_cast<int>(read_number(rt_, format_, at_, kMaxPrecision));
    }
    while (peek() == 'l' || peek() == 'h' || peek() == 'L') ++at_;
    spec.type = peek();
    ++at_;
    if (spec.type == '%') return Value::string("%", true);
    if (zero && spec.align == 0 && spec.type != 's' && spec.type != 'r') {
      spec.fill = "0";
      spec.align = '=';
    } else if (spec.align == 0) {
      spec.align = '>';
    }
    return convert(spec, named.is_absent() ? next_value() : named);
  }

  Value convert(Spec spec, const Value& v) {
    if (rt_.failed()) return Value();
    switch (spec.type) {
      case 's':
        return format_string(rt_, spec, shown(rt_.to_text(v)));
      case 'r':
      case 'a':
        return format_string(rt_, spec, shown(repr_of(rt_, v)));
      case 'c':
        if (v.is_string() && text::count_points(v.view()) == 1) return format_string(rt_, spec, v);
        if (v.is_integral() && text::is_scalar(v.as_integer())) {
          std::string point;
          text::append_point(point, static_cast<char32_t>(v.as_integer()));
          return format_string(rt_, spec, shown(rt_.string(point)));
        }
        return wrong_type(rt_, 'c', v);
      case 'd':
      case 'i':
      case 'u':
        if (v.kind == Kind::floating && std::fabs(v.floating) < 9e18) {
          return format_integer(rt_, spec, static_cast<std::int64_t>(v.floating));
        }
        return v.is_integral() ? format_integer(rt_, spec, v.as_integer())
                               : wrong_type(rt_, spec.type, v);
      case 'x':
      case 'X':
      case 'o':
        return v.is_integral() ? format_integer(rt_, spec, v.as_integer())
                               : wrong_type(rt_, spec.type, v);
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        return v.is_number() ? format_float(rt_, spec, v.as_double())
                             : wrong_type(rt_, spec.type, v);
      default:
        return rt_.fail(ErrorKind::type, "format: unknown conversion after '%' seen");
    }
  }

  Value shown(const Value& s) { return escapes_ ? escaped(rt_, s) : s; }

  Runtime& rt_;
  std::string_view format_;
  bool escapes_;  // the format is markup
  Value values_;
  std::span<const Value> queue_;
  std::size_t next_ = 0;
  std::size_t at_ = 0;
  bool single_ = false;
  bool used_mapping_ = false;
};

// "{}".format(x) --------------------------------------------------------------------------------

class BraceFormatter {
 public:
  BraceFormatter(Runtime& rt, const Args& args, bool escapes)
      : rt_(rt), args_(args), escapes_(escapes) {}

  /// `nested`: inside a format spec, where fields may stand but no specs of their own.
  Value run(std::string_view format, bool nested) {
    Text out(rt_);
    for (std::size_t at = 0; at < format.size() && !rt_.failed();) {
      const std::size_t brace = std::min(format.find_first_of("{}", at), format.size());
      out.add(format.substr(at, brace - at));
      if (brace == format.size()) break;
      at = brace + 1;
      if (at < format.size() && format[at] == format[brace]) {
        out.add(format.substr(at++, 1));
        continue;
      }
      const std::size_t end = format[brace] == '{' ? closing(format, at) : std::string_view::npos;
      if (end == std::string_view::npos) {
        rt_.fail(ErrorKind::type, "format: single '" + std::string(1, format[brace]) + "' seen");
        break;
      }
      Value part = field(format.substr(at, end - at), nested);
      if (escapes_ && !rt_.failed()) part = escaped(rt_, part);
      if (!out.add(part.view())) break;
      at = end + 1;
    }
    return rt_.failed() ? Value() : out.value();
  }

 private:
  static std::size_t closing(std::string_view s, std::size_t at) {
    int depth = 1;
    for (; at < s.size(); ++at) {
      depth += s[at] == '{' ? 1 : s[at] == '}' ? -1 : 0;
      if (depth == 0) return at;
    }
    return std::string_view::npos;
  }

  Value field(std::string_view inside, bool nested) {
    const std::size_t name_end = std::min(inside.find_first_of("!:"), inside.size());
    Value value = look_up(inside.substr(0, name_end));
    std::string_view rest = inside.substr(name_end);
    if (rt_.failed()) return Value();
    if (rest.starts_with('!')) {
      const char conversion = rest.size() > 1 ? rest[1] : '\0';
      if (conversion != 's' && conversion != 'r' && conversion != 'a') {
        return rt_.fail(ErrorKind::type, "format: conversion s, r or a expected after '!'");
      }
      value = conversion == 's' ? rt_.to_text(value) : repr_of(rt_, value);
      rest.remove_prefix(2);
    }
    if (!rest.empty() && rest[0] != ':')
      return rt_.fail(ErrorKind::type, "format: ':' expected in a field");
    if (!rest.empty()) rest.remove_prefix(1);
    if (nested && rest.find('{') != std::string_view::npos) {
      return rt_.fail(ErrorKind::type, "format: fields nested too deeply");
    }
    return convert(value, nested ? rest : run(rest, true).view());
  }

  Value look_up(std::string_view name) {
    const std::size_t first_end = std::min(name.find_first_of(".["), name.size());
    Value value = base(name.substr(0, first_end));
    for (std::size_t at = first_end; at < name.size() && !rt_.failed();) {
      if (name[at] == '.') {
        const std::size_t end = std::min(name.find_first_of(".[", at + 1), name.size());
        value = rt_.attribute(value, name.substr(at + 1, end - at - 1));
        at = end;
      } else {
        const std::size_t close = name.find(']', at);
        if (name[at] != '[' || close == std::string_view::npos)
          return rt_.fail(ErrorKind::type, "format: ']' expected");
        const std::string_view key = name.substr(at + 1, close - at - 1);
        const auto number = as_number(key);
        value = rt_.element(value, number ? Value::of(*number) : Value::string(key));
        at = close + 1;
      }
    }
    return value;
  }

  static std::optional<std::int64_t> as_number(std::string_view s) {
    std::int64_t n = 0;
    const auto parsed = std::from_chars(s.data(), s.data() + s.size(), n);
    if (s.empty() || s[0] == '-' || parsed.ec != std::errc{} || parsed.ptr != s.data() + s.size())
      return std::nullopt;
    return n;
  }

  Value base(std::string_view name) {
    const auto number = as_number(name);
    if (name.empty() || number) {
      const auto i = number ? static_cast<std::size_t>(*number) : next_++;
      if (i < args_.positional.size()) return args_.positional[i];
      return rt_.fail(ErrorKind::type, "format: argument " + std::to_string(i) + " expected");
    }
    for (const NamedValue& argument : args_.named) {
      if (argument.name == name) return argument.value;
    }
    return rt_.fail(ErrorKind::type, "format: argument '" + std::string(name) + "' expected");
  }

  bool parse(std::string_view s, Spec& spec) {
    std::size_t at = 0;
    const auto is_align = [](char c) { return c == '<' || c == '>' || c == '^' || c == '='; };
    std::size_t fill_end = 0;
    if (!s.empty()) text::next_point(s, fill_end);
    if (fill_end < s.size() && is_align(s[fill_end])) {
      spec.fill = s.substr(0, fill_end);
      spec.align = s[fill_end];
      at = fill_end + 1;
    } else if (!s.empty() && is_align(s[0])) {
      spec.align = s[at++];
    }
    const auto peek = [&] { return at < s.size() ? s[at] : '\0'; };
    if (peek() == '+' || peek() == '-' || peek() == ' ') spec.sign = s[at++];
    if (peek() == '#') spec.alternate = true, ++at;
    if (peek() == '0') {
      if (spec.align == 0) spec.fill = "0", spec.align = '=';
      ++at;
    }
    spec.width = read_number(rt_, s, at, kMaxWidth);
    if (peek() == ',' || peek() == '_') spec.grouping = s[at++];
    if (peek() == '.') {
      ++at;
      spec.precision = static_cast<int>(read_number(rt_, s, at, kMaxPrecision));
    }
    if (at < s.size()) spec.type = s[at++];
    return at == s.size();
  }

  Value convert(const Value& v, std::string_view spec_text) {
    if (rt_.failed()) return Value();
    if (spec_text.empty()) return rt_.to_text(v);
    Spec spec;
    if (!parse(spec_text, spec))
      return rt_.fail(ErrorKind::type,
                      "format: spec '" + std::string(spec_text) + "' not understood");
    const bool float_type =
        spec.type != 0 && std::string_view("eEfFgG%").find(spec.type) != std::string_view::npos;
    const bool integer_type =
        spec.type == 0 || std::string_view("dnxXob").find(spec.type) != std::string_view::npos;
    if (v.is_string() && (spec.type == 0 || spec.type == 's') && spec.align != '=')
      return format_string(rt_, spec, v);
    if (v.is_integral() && integer_type) return format_integer(rt_, spec, v.as_integer());
    if (v.is_number() &&
        (float_type || (v.kind == Kind::floating && (spec.type == 0 || spec.type == 'n')))) {
      return format_float(rt_, spec, v.as_double());
    }
    return wrong_type(rt_, spec.type == 0 ? ' ' : spec.type, v);
  }

  Runtime& rt_;
  const Args& args_;
  bool escapes_;  // the format is markup
  std::size_t next_ = 0;
};

}  // namespace

Value percent_format(Runtime& rt, const Value& format, const Value& values) {
  return PercentFormatter(rt, format, values).run();
}

Value brace_format(Runtime& rt, const Value& format, const Args& args) {
  if (!rt.spend_bytes(2 * std::uint64_t{format.n_bytes})) return Value();
  return BraceFormatter(rt, args, format.is_markup()).run(format.view(), false);
}

}  // namespace plumbline::templates::jinja
