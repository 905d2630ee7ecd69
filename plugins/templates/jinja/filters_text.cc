// Filters on text. Source: jinja2/filters.py; tojson: transformers' own, json.dumps.

#include <algorithm>

#include "builtins.h"
#include "printing.h"
#include "text_functions.h"

namespace plumbline::templates::jinja {
namespace {

Value mapped(Runtime& rt, const Value& v, std::string (*map)(std::string_view)) {
  const Value s = rt.to_text(v);
  if (!rt.spend_bytes(4 * std::uint64_t{s.n_bytes})) return Value();
  return rt.string(map(s.view())).as_kind_of(s);
}

Value upper(Runtime& rt, const Value& v, const Args&) {
  return mapped(rt, v, text::upper);
}
Value lower(Runtime& rt, const Value& v, const Args&) {
  return mapped(rt, v, text::lower);
}
Value capitalize(Runtime& rt, const Value& v, const Args&) {
  return mapped(rt, v, text::capitalize);
}
Value string(Runtime& rt, const Value& v, const Args&) {
  return rt.to_text(v);
}

/// jinja2's own idea of a title: a word begins after white space or one of - ( { [ <.
std::string title_words(std::string_view s) {
  std::string out;
  bool at_word_start = true;
  std::size_t word_at = 0;
  const auto flush = [&](std::size_t end) {
    if (word_at >= end) return;
    std::size_t rest = word_at;
    text::next_point(s, rest);
    out += text::upper(s.substr(word_at, rest - word_at)) + text::lower(s.substr(rest, end - rest));
  };
  for (std::size_t at = 0; at < s.size();) {
    const std::size_t from = at;
    const char32_t point = text::next_point(s, at);
    const bool breaks = text::is_space(point) || point == '-' || point == '(' || point == '{' ||
                        point == '[' || point == '<';
    if (breaks) {
      if (!at_word_start) flush(from);
      out += s.substr(from, at - from);
    } else if (at_word_start) {
      word_at = from;
    }
    at_word_start = breaks;
  }
  if (!at_word_start) flush(s.size());
  return out;
}

Value title(Runtime& rt, const Value& v, const Args&) {
  return mapped(rt, v, title_words).without_markup();
}

Value trim(Runtime& rt, const Value& v, const Args& args) {
  const Bound arg(rt, "trim", args, params("chars"), 0);
  if (!arg) return Value();
  return strip(rt, rt.to_text(v), arg[0], true, true);
}

Value replace(Runtime& rt, const Value& v, const Args& args) {
  Bound arg(rt, "replace", args, params("old", "new", "count"), 2);
  if (!arg) return Value();
  const std::int64_t count = arg.has(2) && !arg[2].is_none() ? arg.integer(2, -1) : -1;
  return replace_text(rt, rt.to_text(v).without_markup(), rt.to_text(arg[0]).view(),
                      rt.to_text(arg[1]).view(), count);
}

Value not_a_string(Runtime& rt, std::string_view who, const Value& v) {
  if (v.is_undefined()) return rt.fail_undefined(v);
  return rt.fail(ErrorKind::type, std::string(who) + ": '" + std::string(type_name(v)) +
                                      "' seen, a string expected");
}

Value indent(Runtime& rt, const Value& v, const Args& args) {
  Bound arg(rt, "indent", args, params("width", "first", "blank"), 0);
  if (!arg) return Value();
  const bool given = arg.has(0) && arg[0].is_string();
  const std::string blanks = given ? "" : spaces(rt, arg.integer(0, 4));
  const std::string_view space = given ? arg[0].view() : blanks;
  const bool blank = arg.flag(2, false);
  if (!v.is_string()) return not_a_string(rt, "indent", v);
  Text out(rt);
  if (arg.flag(1, false)) out.add(space);
  std::string_view rest = v.view();
  for (bool is_first = true;; is_first = false) {
    const auto [line_bytes, end_bytes] = first_line(rest);
    const std::string_view line = rest.substr(0, line_bytes);
    if (!is_first && (blank || !line.empty()) && !out.add(space)) break;
    if (!out.add(line) || end_bytes == 0) break;
    // A line end of any kind becomes \n, and stays whose it was.
    out.add_each(rest.substr(line_bytes, 1), [&](std::string_view) { out.own() += '\n'; });
    rest.remove_prefix(line_bytes + end_bytes);
  }
  return out.value().as_kind_of(v);
}

Value safe(Runtime& rt, const Value& v, const Args&) {
  return rt.to_text(v).as_markup();
}
Value escape(Runtime& rt, const Value& v, const Args&) {
  return escaped(rt, rt.to_text(v));
}
Value force_escape(Runtime& rt, const Value& v, const Args&) {
  return escaped(rt, rt.to_text(v).without_markup());
}

Value center(Runtime& rt, const Value& v, const Args& args) {
  Bound arg(rt, "center", args, params("width"), 0);
  if (!arg) return Value();
  return pad(rt, rt.to_text(v), arg.integer(0, 80), U' ', Side::both);
}

Value truncate(Runtime& rt, const Value& v, const Args& args) {
  Bound arg(rt, "truncate", args, params("length", "killwords", "end", "leeway"), 0);
  if (!arg) return Value();
  const std::int64_t n = arg.integer(0, 255);
  const Value end_text = arg.has(2) ? arg[2] : Value::string("...", true);
  const std::string_view end = arg.string(2, "...");
  const std::int64_t leeway = arg.has(3) && !arg[3].is_none() ? arg.integer(3, 5) : 5;
  const auto n_end = static_cast<std::int64_t>(text::count_points(end));
  if (n < n_end || leeway < 0) {
    return rt.fail(ErrorKind::type,
                   "truncate: a length of at least " + std::to_string(n_end) + " expected");
  }
  if (!v.is_string()) return not_a_string(rt, "truncate", v);
  if (rt.length(v).value_or(0) - leeway <= n) return v;
  const auto n_kept = static_cast<std::size_t>(n - n_end);
  std::string_view kept = v.view().substr(0, text::offset_of_point(v.view(), n_kept));
  if (!arg.flag(1, false)) {
    const std::size_t space = kept.rfind(' ');
    if (space != std::string_view::npos) kept = kept.substr(0, space);
  }
  return add(rt, Runtime::part_of(v, kept), end_text);
}

Value word_count(Runtime& rt, const Value& v, const Args&) {
  const Value s = rt.to_text(v);
  if (!rt.spend_bytes(s.n_bytes)) return Value();
  std::int64_t n = 0;
  bool in_word = false;
  for (std::size_t at = 0; at < s.n_bytes;) {
    const char32_t point = text::next_point(s.view(), at);
    const bool is_word = point == '_' || text::is_alpha(point) || text::is_numeric(point);
    n += is_word && !in_word;
    in_word = is_word;
  }
  return Value::of(n);
}

Value url_encode(Runtime& rt, const Value& v, const Args&) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  const auto quote = [&](std::string& out, const Value& part, bool keep_slash) {
    const Value s = rt.to_text(part);
    if (!rt.spend_bytes(3 * std::uint64_t{s.n_bytes})) return;
    for (const char c : s.view()) {
      const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                         (c >= 'a' && c <= 'z') || c == '_' || c == '.' || c == '-' || c == '~' ||
                         (c == '/' && keep_slash);
      const auto byte = static_cast<unsigned char>(c);
      if (plain) {
        out += c;
      } else if (c == ' ' && !keep_slash) {
        out += '+';
      } else {
        out += '%';
        out += kDigits[byte >> 4];
        out += kDigits[byte & 15];
      }
    }
  };
  std::string out;
  if (v.is_string() || !rt.is_iterable(v)) {
    quote(out, v, true);
    return rt.string(out);
  }
  const auto pair_text = [&](const Value& key, const Value& value) {
    if (!out.empty()) out += '&';
    quote(out, key, false);
    out += '=';
    quote(out, value, false);
  };
  if (v.kind == Kind::dict) {
    for (const Entry& entry : v.dict->entries) pair_text(entry.key, entry.value);
    return rt.string(out);
  }
  for (const Value& item : rt.items(v)) {
    const auto pair = rt.items(item);
    if (pair.size() != 2)
      return rt.fail(ErrorKind::type, "urlencode: pairs of a key and a value expected");
    pair_text(pair[0], pair[1]);
  }
  return rt.string(out);
}

Value format(Runtime& rt, const Value& v, const Args& args) {
  if (!args.positional.empty() && !args.named.empty()) {
    return rt.fail(ErrorKind::type,
                   "format: positional and named arguments seen, one kind expected");
  }
  const Value s = rt.to_text(v);
  if (args.named.empty()) return percent_format(rt, s, rt.list(args.positional, Flavor::tuple));
  DictBuilder dict(rt, args.named.size());
  for (const NamedValue& argument : args.named)
    dict.set(Value::string(argument.name), argument.value);
  return percent_format(rt, s, dict.value());
}

// JSON ------------------------------------------------------------------------------------------

/// json.dumps as transformers calls it; html_safe also hides < > & ' and the line ends of Unicode,
/// so that nothing in it can begin or end a tag.
template <bool html_safe>
Value to_json(Runtime& rt, const Value& v, const Args& args) {
  constexpr std::string_view kName = html_safe ? "tojson_untrusted" : "tojson";
  Bound arg(rt, kName, args, params("ensure_ascii", "indent", "separators", "sort_keys"), 0);
  if (!arg) return Value();
  JsonStyle style;
  std::string blanks;
  style.html_safe = html_safe;
  style.ascii_only = arg.flag(0, false);
  style.sort_keys = arg.flag(3, false);
  if (arg.has(1) && !arg[1].is_none()) {
    if (!arg[1].is_string()) blanks = spaces(rt, arg.integer(1, 0));
    style.indent = arg[1].is_string() ? arg[1].view() : blanks;
    style.item_separator = ",";
  }
  if (arg.has(2) && !arg[2].is_none()) {
    const auto separators = rt.items(arg[2]);
    if (separators.size() != 2 || !separators[0].is_string() || !separators[1].is_string()) {
      return rt.fail(ErrorKind::type, std::string(kName) + ": separators: two strings expected");
    }
    style.item_separator = separators[0].view();
    style.key_separator = separators[1].view();
  }
  Text out(rt);
  append_json(rt, out, v, style);
  return out.value();
}

// Data ------------------------------------------------------------------------------------------

bool is_ascii_letter(char c) {
  return text::lower_ascii(c) >= 'a' && text::lower_ascii(c) <= 'z';
}

/// Does a tag `<name` or `</name` begin at `at`, in letters of either case and with white space
/// between its parts?
bool begins_tag(std::string_view s, std::size_t at, std::string_view name) {
  std::size_t name_at = text::skip_space(s, at + 1);
  if (name_at < s.size() && s[name_at] == '/') name_at = text::skip_space(s, name_at + 1);
  const auto same = [](char a, char b) { return text::lower_ascii(a) == text::lower_ascii(b); };
  if (!std::ranges::equal(s.substr(name_at, name.size()), name, same)) return false;
  const std::size_t end = name_at + name.size();
  return end == s.size() || !is_ascii_letter(s[end]);
}

/// <DATA>text</DATA>, with the `<` of every such tag inside as &lt;: what is inside can neither end
/// the block nor begin another.
Value data_block(Runtime& rt, const Value& v, const Args& args) {
  Bound arg(rt, "data_block", args, params("tag"), 0);
  if (!arg) return Value();
  const std::string_view name = arg.string(0, "DATA");
  const Value s = rt.to_text(v);
  if (name.empty() || !std::ranges::all_of(name, is_ascii_letter))
    return rt.fail(ErrorKind::type,
                   "data_block: tag '" + std::string(name) + "' seen, ASCII letters expected");
  if (!rt.spend_bytes(2 * std::uint64_t{s.n_bytes})) return Value();
  Text out(rt);
  out.own() += '<';
  out.add(name);
  out.own() += '>';
  std::size_t from = 0;
  for (std::size_t at = s.view().find('<'); at != std::string_view::npos;
       at = s.view().find('<', at + 1)) {
    if (!begins_tag(s.view(), at, name)) continue;
    if (!out.add(s.view().substr(from, at - from))) break;
    out.add_each(s.view().substr(at, 1), [&](std::string_view) { out.own() += "&lt;"; });
    from = at + 1;
  }
  out.add(s.view().substr(from));
  out.own() += "</";
  out.add(name);
  out.own() += '>';
  return out.value();
}

constexpr Filter kTextFilters[] = {
    {"upper", upper, kNoArguments},
    {"lower", lower, kNoArguments},
    {"title", title, kNoArguments},
    {"capitalize", capitalize, kNoArguments},
    {"string", string, kNoArguments},
    {"safe", safe, kNoArguments},
    {"trim", trim},
    {"replace", replace},
    {"indent", indent},
    {"e", escape, kNoArguments},
    {"escape", escape, kNoArguments},
    {"forceescape", force_escape, kNoArguments},
    {"center", center},
    {"truncate", truncate},
    {"wordcount", word_count, kNoArguments},
    {"urlencode", url_encode, kNoArguments},
    {"format", format},
    {"tojson", to_json<false>},
    {"tojson_untrusted", to_json<true>},
    {"data_block", data_block},
};

}  // namespace

std::span<const Filter> text_filters() {
  return kTextFilters;
}

}  // namespace plumbline::templates::jinja
