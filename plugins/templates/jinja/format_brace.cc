// "{}".format(x)

#include <charconv>
#include <optional>

#include "builtins.h"
#include "format_spec.h"
#include "text_functions.h"

namespace plumbline::templates::jinja {
namespace {

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

  bool parse(std::string_view s, FormatSpec& spec) {
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
    spec.width = read_format_number(rt_, s, at, kMaxFormatWidth);
    if (peek() == ',' || peek() == '_') spec.grouping = s[at++];
    if (peek() == '.') {
      ++at;
      spec.precision = static_cast<int>(read_format_number(rt_, s, at, kMaxFormatPrecision));
    }
    if (at < s.size()) spec.type = s[at++];
    return at == s.size();
  }

  Value convert(const Value& v, std::string_view spec_text) {
    if (rt_.failed()) return Value();
    if (spec_text.empty()) return rt_.to_text(v);
    FormatSpec spec;
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
    return wrong_format_type(rt_, spec.type == 0 ? ' ' : spec.type, v);
  }

  Runtime& rt_;
  const Args& args_;
  bool escapes_;  // the format is markup
  std::size_t next_ = 0;
};

}  // namespace

Value brace_format(Runtime& rt, const Value& format, const Args& args) {
  if (!rt.spend_bytes(2 * std::uint64_t{format.n_bytes})) return Value();
  return BraceFormatter(rt, args, format.is_markup()).run(format.view(), false);
}

}  // namespace plumbline::templates::jinja
