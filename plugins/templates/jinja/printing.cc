#include "printing.h"

#include <charconv>
#include <cmath>

namespace plumbline::templates::jinja {
bool may_go_on(Runtime& rt, const Text& out, int depth) {
  if (!rt.spend(1) || !rt.fits(out.size())) return false;
  // Lists and dicts are bounded where they are made; only a namespace can hold itself.
  if (depth <= 2 * kMaxDataDepth) return true;
  rt.fail(ErrorKind::limit,
          "value nested too deeply to be printed (a namespace that holds itself?)");
  return false;
}

void append_hex(std::string& out, char32_t point, int n_digits) {
  constexpr char kDigits[] = "0123456789abcdef";
  for (int shift = (n_digits - 1) * 4; shift >= 0; shift -= 4) out += kDigits[point >> shift & 0xF];
}

namespace {

/// What stands for `s` between quotes of the given kind.
void append_escaped(std::string& out, std::string_view s, char quote) {
  for (std::size_t at = 0; at < s.size();) {
    const std::size_t from = at;
    const char32_t point = text::next_point(s, at);
    if (point == '\\' || point == static_cast<unsigned char>(quote)) {
      out += '\\';
      out += static_cast<char>(point);
    } else if (point == '\n') {
      out += "\\n";
    } else if (point == '\r') {
      out += "\\r";
    } else if (point == '\t') {
      out += "\\t";
    } else if (text::is_printable(point)) {
      out.append(s, from, at - from);
    } else if (point < 0x100) {
      out += "\\x";
      append_hex(out, point, 2);
    } else if (point < 0x10000) {
      out += "\\u";
      append_hex(out, point, 4);
    } else {
      out += "\\U";
      append_hex(out, point, 8);
    }
  }
}

void append_string_repr(Text& out, std::string_view s) {
  const bool single = s.find('\'') == s.npos || s.find('"') != s.npos;
  const char quote = single ? '\'' : '"';
  out.own() += quote;
  out.add_each(s, [&](std::string_view part) { append_escaped(out.own(), part, quote); });
  out.own() += quote;
}

void append_items_repr(Runtime& rt, Text& out, std::span<const Value> items, int depth) {
  bool first = true;
  for (const Value& item : items) {
    if (rt.failed()) return;
    if (!first) out.own() += ", ";
    first = false;
    append_repr(rt, out, item, depth + 1);
  }
}

void append_dict_repr(Runtime& rt, Text& out, const Dict& dict, int depth) {
  out.own() += '{';
  bool first = true;
  for (const Entry& entry : dict.entries) {
    if (rt.failed()) return;
    if (!first) out.own() += ", ";
    first = false;
    append_repr(rt, out, entry.key, depth + 1);
    out.own() += ": ";
    append_repr(rt, out, entry.value, depth + 1);
  }
  out.own() += '}';
}

void append_list_repr(Runtime& rt, Text& out, const List& list, int depth) {
  switch (list.flavor) {
    case Flavor::list:
      out.own() += '[';
      append_items_repr(rt, out, list.items, depth);
      out.own() += ']';
      return;
    case Flavor::tuple:
    case Flavor::group:
      out.own() += '(';
      append_items_repr(rt, out, list.items, depth);
      out.own() += list.items.size() == 1 ? ",)" : ")";
      return;
    case Flavor::dict_items:
      out.own() += "dict_items([";
      break;
    case Flavor::dict_keys:
      out.own() += "dict_keys([";
      break;
    case Flavor::dict_values:
      out.own() += "dict_values([";
      break;
  }
  append_items_repr(rt, out, list.items, depth);
  out.own() += "])";
}

void append_range_repr(std::string& out, const Range& range) {
  out += "range(" + std::to_string(range.start) + ", " + std::to_string(range.stop);
  if (range.step != 1) out += ", " + std::to_string(range.step);
  out += ')';
}

}  // namespace

std::string float_text(double d) {
  if (std::isnan(d)) return "nan";
  if (std::isinf(d)) return d < 0 ? "-inf" : "inf";
  char buffer[32];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, d, std::chars_format::scientific).ptr;
  // "-d.ddde[+-]xx" -> sign, digits, decimal exponent
  const std::string_view shortest(buffer, static_cast<std::size_t>(end - buffer));
  const std::size_t e_at = shortest.find('e');
  int exponent = 0;
  const char* exponent_text = buffer + e_at + (buffer[e_at + 1] == '+' ? 2 : 1);
  std::from_chars(exponent_text, end, exponent);
  std::string out = d < 0 || std::signbit(d) ? "-" : "";
  std::string digits;
  for (const char c : shortest.substr(0, e_at)) {
    if (c >= '0' && c <= '9') digits += c;
  }
  const int n_digits = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {  // Python's limits of plain notation
    out += digits[0];
    if (n_digits > 1) out += "." + digits.substr(1);
    const int magnitude = std::abs(exponent);
    out += exponent < 0 ? "e-" : "e+";
    if (magnitude < 10) out += '0';
    return out + std::to_string(magnitude);
  }
  if (exponent < 0)
    return out + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  const auto n_whole = static_cast<std::size_t>(exponent + 1);
  if (digits.size() <= n_whole)
    return out + digits + std::string(n_whole - digits.size(), '0') + ".0";
  return out + digits.substr(0, n_whole) + "." + digits.substr(n_whole);
}

void append_text(Runtime& rt, Text& out, const Value& value) {
  if (value.is_string()) {
    out.add(value.view());
  } else if (!value.is_undefined()) {
    append_repr(rt, out, value);
  }
}

void append_repr(Runtime& rt, Text& out, const Value& value, int depth) {
  if (!may_go_on(rt, out, depth)) return;
  switch (value.kind) {
    case Kind::undefined:
      out.own() += "Undefined";
      return;
    case Kind::none:
      out.own() += "None";
      return;
    case Kind::boolean:
      out.own() += value.boolean ? "True" : "False";
      return;
    case Kind::integer:
      out.own() += std::to_string(value.integer);
      return;
    case Kind::big_integer:
      out.own() += value.view();
      return;
    case Kind::floating:
      out.own() += float_text(value.floating);
      return;
    case Kind::string:
      if (!rt.spend_bytes(value.n_bytes) || !rt.fits(out.size() + value.n_bytes)) return;
      if (value.is_markup()) out.own() += "Markup(";
      append_string_repr(out, value.view());
      if (value.is_markup()) out.own() += ')';
      return;
    case Kind::list:
      append_list_repr(rt, out, *value.list, depth);
      return;
    case Kind::dict:
      append_dict_repr(rt, out, *value.dict, depth);
      return;
    case Kind::range:
      append_range_repr(out.own(), *value.range);
      return;
    case Kind::iterator:
      out.own() += "<generator object>";
      return;
    case Kind::name_space:
      out.own() += "<Namespace ";
      append_dict_repr(rt, out, *value.space, depth + 1);
      out.own() += '>';
      return;
    case Kind::macro:
      out.own() += "<Macro ";
      append_repr(rt, out, rt.attribute(value, "name"), depth + 1);
      out.own() += '>';
      return;
    case Kind::loop:
      out.own() += "<LoopContext " + std::to_string(value.loop->at + 1) + "/" +
                   std::to_string(value.loop->items.size()) + ">";
      return;
    case Kind::cycler:
    case Kind::joiner:
      out.own() += "<" + std::string(type_name(value)) + " object>";
      return;
    case Kind::method:
      out.own() += "<built-in method " + std::string(value.method->method->name) + ">";
      return;
    case Kind::function:
      out.own() += "<function " + std::string(value.function->name) + ">";
      return;
  }
}

}  // namespace plumbline::templates::jinja
