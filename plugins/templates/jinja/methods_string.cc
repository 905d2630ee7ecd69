// The methods of Python's str that change, split or search text.

#include <algorithm>

#include "builtins.h"
#include "search.h"
#include "text_functions.h"

namespace plumbline::templates::jinja {
namespace {

Value mapped(Runtime& rt, const Value& self, const Args& args, std::string_view who,
             std::string (*map)(std::string_view)) {
  const Bound none(rt, who, args, params(), 0);
  if (!none || !rt.spend_bytes(4 * std::uint64_t{self.n_bytes})) return Value();
  return rt.string(map(self.view()));
}

Value upper(Runtime& rt, const Value& self, const Args& args) {
  return mapped(rt, self, args, "upper", text::upper);
}
Value lower(Runtime& rt, const Value& self, const Args& args) {
  return mapped(rt, self, args, "lower", text::lower);
}
Value casefold(Runtime& rt, const Value& self, const Args& args) {
  return mapped(rt, self, args, "casefold", text::casefold);
}
Value title(Runtime& rt, const Value& self, const Args& args) {
  return mapped(rt, self, args, "title", text::title);
}
Value capitalize(Runtime& rt, const Value& self, const Args& args) {
  return mapped(rt, self, args, "capitalize", text::capitalize);
}
Value swap_case(Runtime& rt, const Value& self, const Args& args) {
  return mapped(rt, self, args, "swapcase", text::swap_case);
}

template <bool left, bool right>
Value strip_side(Runtime& rt, const Value& self, const Args& args) {
  const Bound arg(rt, "strip", args, params("chars"), 0);
  return arg ? strip(rt, self, arg[0], left, right) : Value();
}

// Searching -------------------------------------------------------------------------------------

/// A part of a string by code points, as the optional start and end arguments of Python's methods
/// mean it.
struct Window {
  std::string_view part;
  std::int64_t start;  // in code points
  bool valid;  // a start beyond the end matches nothing, not even an empty text
};

template <std::size_t N>
Window window(Runtime& rt, const Value& self, Bound<N>& arg, std::size_t start_at) {
  const auto bound = [&](std::size_t i, std::int64_t otherwise) {
    return arg[i].is_none() ? otherwise : arg.integer(i, otherwise);
  };
  if (!arg.has(start_at) && !arg.has(start_at + 1)) return {self.view(), 0, true};
  const std::int64_t n = rt.length(self).value_or(0);
  const auto clamp = [&](std::int64_t i) {
    return std::min(i < 0 ? std::max<std::int64_t>(i < -n ? 0 : i + n, 0) : i, n);
  };
  const std::int64_t raw_start = bound(start_at, 0);
  const std::int64_t start = clamp(raw_start);
  const std::int64_t end = clamp(bound(start_at + 1, n));
  if (raw_start > n || start > end) return {{}, start, false};
  const std::string_view tail =
      self.view().substr(text::offset_of_point(self.view(), static_cast<std::size_t>(start)));
  return {tail.substr(0, text::offset_of_point(tail, static_cast<std::size_t>(end - start))), start,
          true};
}

/// startswith and endswith: a string, or a tuple of which one must match.
template <bool at_end>
Value has_affix(Runtime& rt, const Value& self, const Args& args) {
  constexpr std::string_view kName = at_end ? "endswith" : "startswith";
  Bound arg(rt, kName, args, params("affix", "start", "end"), 1);
  if (!arg) return Value();
  const Window in = window(rt, self, arg, 1);
  const auto matches = [&](const Value& affix) {
    rt.spend_bytes(affix.n_bytes);
    return in.valid &&
           (at_end ? in.part.ends_with(affix.view()) : in.part.starts_with(affix.view()));
  };
  if (arg[0].is_string()) return Value::of(matches(arg[0]));
  const bool is_tuple = arg[0].kind == Kind::list && arg[0].list->flavor == Flavor::tuple;
  if (is_tuple && std::ranges::all_of(arg[0].list->items, &Value::is_string)) {
    return Value::of(std::ranges::any_of(arg[0].list->items, matches));
  }
  if (arg[0].is_undefined()) return rt.fail_undefined(arg[0]);
  return rt.fail(ErrorKind::type, std::string(kName) + ": '" + std::string(type_name(arg[0])) +
                                      "' seen, a string or a tuple of strings expected");
}

template <bool from_end, bool must_be_found>
Value find_text(Runtime& rt, const Value& self, const Args& args) {
  constexpr std::string_view kName = must_be_found ? "index" : "find";
  Bound arg(rt, kName, args, params("sub", "start", "end"), 1);
  if (!arg) return Value();
  const std::string_view wanted = arg.string(0, "");
  const Window in = window(rt, self, arg, 1);
  if (!rt.spend_bytes(in.part.size())) return Value();
  const std::size_t found = !in.valid  ? std::string_view::npos
                            : from_end ? text::find_last(in.part, wanted)
                                       : text::find(in.part, wanted);
  if (found != std::string_view::npos) {
    return Value::of(in.start +
                     static_cast<std::int64_t>(text::count_points(in.part.substr(0, found))));
  }
  if (must_be_found) return rt.fail(ErrorKind::type, "index: substring not found");
  return Value::of(std::int64_t{-1});
}

Value count(Runtime& rt, const Value& self, const Args& args) {
  Bound arg(rt, "count", args, params("sub", "start", "end"), 1);
  if (!arg) return Value();
  const std::string_view wanted = arg.string(0, "");
  const Window in = window(rt, self, arg, 1);
  if (!rt.spend_bytes(in.part.size()) || !in.valid) return Value::of(std::int64_t{0});
  if (wanted.empty()) return Value::of(static_cast<std::int64_t>(text::count_points(in.part)) + 1);
  std::int64_t n = 0;
  for (std::size_t at = text::find(in.part, wanted); at != std::string_view::npos;
       at = text::find(in.part, wanted, at + wanted.size()))
    ++n;
  return Value::of(n);
}

// Splitting and joining -------------------------------------------------------------------------

void split_on_space(const Value& self, std::int64_t max_splits, std::vector<Value>& out) {
  const std::string_view all = self.view();
  std::size_t at = text::skip_space(all, 0);
  while (at < all.size()) {
    if (max_splits-- == 0) {
      out.push_back(Runtime::part_of(self, all.substr(at)));
      return;
    }
    std::size_t end = at;
    while (end < all.size()) {
      std::size_t after = end;
      if (text::is_space(text::next_point(all, after))) break;
      end = after;
    }
    out.push_back(Runtime::part_of(self, all.substr(at, end - at)));
    at = text::skip_space(all, end);
  }
}

/// From the right: pieces come out last first.
void split_on_space_from_right(const Value& self, std::int64_t max_splits,
                               std::vector<Value>& out) {
  std::string_view rest = text::strip_right(self.view());
  while (!rest.empty()) {
    if (max_splits-- == 0) {
      out.push_back(Runtime::part_of(self, rest));
      return;
    }
    std::size_t word_at = 0;
    // The last word begins after the last white space.
    for (std::size_t at = rest.size(); at > 0;) {
      std::size_t from = at - 1;
      while (from > 0 && (static_cast<unsigned char>(rest[from]) & 0xC0) == 0x80) --from;
      std::size_t after = from;
      if (text::is_space(text::next_point(rest, after))) {
        word_at = at;
        break;
      }
      at = from;
    }
    out.push_back(Runtime::part_of(self, rest.substr(word_at)));
    rest = text::strip_right(rest.substr(0, word_at));
  }
}

template <bool from_right>
Value split(Runtime& rt, const Value& self, const Args& args) {
  Bound arg(rt, from_right ? "rsplit" : "split", args, params("sep", "maxsplit"), 0);
  if (!arg) return Value();
  std::int64_t max_splits = arg.integer(1, -1);
  if (!rt.spend_bytes(self.n_bytes)) return Value();
  std::vector<Value> parts;
  if (!arg.has(0) || arg[0].is_none()) {
    from_right ? split_on_space_from_right(self, max_splits, parts)
               : split_on_space(self, max_splits, parts);
  } else {
    const std::string_view separator = arg.string(0, " ");
    if (separator.empty()) return rt.fail(ErrorKind::type, "split: empty separator seen");
    std::string_view rest = self.view();
    for (; max_splits != 0; --max_splits) {
      const std::size_t found =
          from_right ? text::find_last(rest, separator) : text::find(rest, separator);
      if (found == std::string_view::npos) break;
      const std::string_view after = rest.substr(found + separator.size());
      parts.push_back(Runtime::part_of(self, from_right ? after : rest.substr(0, found)));
      rest = from_right ? rest.substr(0, found) : after;
    }
    parts.push_back(Runtime::part_of(self, rest));
  }
  if (from_right) std::ranges::reverse(parts);
  return rt.list(parts);
}

template <bool from_right>
Value partition(Runtime& rt, const Value& self, const Args& args) {
  Bound arg(rt, "partition", args, params("sep"), 1);
  if (!arg) return Value();
  const std::string_view separator = arg.string(0, " ");
  if (separator.empty()) return rt.fail(ErrorKind::type, "partition: empty separator seen");
  if (!rt.spend_bytes(self.n_bytes)) return Value();
  const std::string_view all = self.view();
  const std::size_t found =
      from_right ? text::find_last(all, separator) : text::find(all, separator);
  const Value nothing = Value::string("", true).as_kind_of(self);
  if (found == std::string_view::npos) {
    return from_right ? rt.tuple({nothing, nothing, self}) : rt.tuple({self, nothing, nothing});
  }
  return rt.tuple({Runtime::part_of(self, all.substr(0, found)), arg[0].as_kind_of(self),
                   Runtime::part_of(self, all.substr(found + separator.size()))});
}

Value lines(Runtime& rt, const Value& self, const Args& args) {
  Bound arg(rt, "splitlines", args, params("keepends"), 0);
  if (!arg || !rt.spend_bytes(self.n_bytes)) return Value();
  std::vector<Value> parts;
  for (const std::string_view line : split_lines(self.view(), arg.flag(0, false))) {
    parts.push_back(Runtime::part_of(self, line));
  }
  return rt.list(parts);
}

Value join(Runtime& rt, const Value& self, const Args& args) {
  const Bound arg(rt, "join", args, params("iterable"), 1);
  if (!arg) return Value();
  Text out(rt);
  bool first = true;
  for (const Value& item : rt.items(arg[0])) {
    if (!item.is_string()) {
      if (item.is_undefined()) return rt.fail_undefined(item);
      return rt.fail(ErrorKind::type,
                     "join: '" + std::string(type_name(item)) + "' seen, strings expected");
    }
    if (!first && !out.add(self.view())) return Value();
    first = false;
    if (!out.add(self.is_markup() ? escaped(rt, item).view() : item.view())) return Value();
  }
  return out.value();
}

// Changing --------------------------------------------------------------------------------------

Value replace(Runtime& rt, const Value& self, const Args& args) {
  Bound arg(rt, "replace", args, params("old", "new", "count"), 2);
  if (!arg) return Value();
  const std::string_view from = arg.string(0, "");
  const std::string_view to = arg.string(1, "");
  const std::int64_t n = arg.integer(2, -1);
  if (rt.failed()) return Value();
  return replace_text(rt, self, from, self.is_markup() ? escaped(rt, arg[1]).view() : to, n);
}

template <bool suffix>
Value remove_affix(Runtime& rt, const Value& self, const Args& args) {
  Bound arg(rt, suffix ? "removesuffix" : "removeprefix", args, params("affix"), 1);
  if (!arg) return Value();
  const std::string_view affix = arg.string(0, "");
  std::string_view all = self.view();
  if (suffix && all.ends_with(affix)) all.remove_suffix(affix.size());
  if (!suffix && all.starts_with(affix)) all.remove_prefix(affix.size());
  return Runtime::part_of(self, all);
}

template <Side side>
Value justify(Runtime& rt, const Value& self, const Args& args) {
  Bound arg(rt, "justify", args, params("width", "fillchar"), 1);
  if (!arg) return Value();
  const std::string_view fill = arg.string(1, " ");
  if (text::count_points(fill) != 1)
    return rt.fail(ErrorKind::type, "justify: one fill character expected");
  std::size_t at = 0;
  return pad(rt, self, arg.integer(0, 0), text::next_point(fill, at), side);
}

Value zero_fill(Runtime& rt, const Value& self, const Args& args) {
  Bound arg(rt, "zfill", args, params("width"), 1);
  if (!arg) return Value();
  const std::int64_t width = arg.integer(0, 0);
  const bool has_sign = self.view().starts_with('-') || self.view().starts_with('+');
  if (!has_sign) return pad(rt, self, width, U'0', Side::left);
  const Value digits =
      pad(rt, Runtime::part_of(self, self.view().substr(1)), width - 1, U'0', Side::left);
  return rt.concat(Runtime::part_of(self, self.view().substr(0, 1)), digits);
}

Value expand_tabs(Runtime& rt, const Value& self, const Args& args) {
  Bound arg(rt, "expandtabs", args, params("tabsize"), 0);
  if (!arg) return Value();
  const std::int64_t size = arg.integer(0, 8);
  std::string out;
  std::int64_t column = 0;
  for (std::size_t at = 0; at < self.n_bytes;) {
    const std::size_t from = at;
    const char32_t point = text::next_point(self.view(), at);
    if (point == '\t') {
      const std::int64_t n = size > 0 ? size - column % size : 0;
      if (!rt.fits(out.size() + static_cast<std::uint64_t>(n)) ||
          !rt.spend_bytes(static_cast<std::uint64_t>(n)))
        break;
      out.append(static_cast<std::size_t>(n), ' ');
      column += n;
    } else {
      out += self.view().substr(from, at - from);
      column = point == '\n' || point == '\r' ? 0 : column + 1;
    }
  }
  return rt.string(out);
}

Value format_map(Runtime& rt, const Value& self, const Args& args) {
  const Bound arg(rt, "format_map", args, params("mapping"), 1);
  if (!arg) return Value();
  if (arg[0].kind != Kind::dict)
    return rt.fail(ErrorKind::type,
                   "format_map: '" + std::string(type_name(arg[0])) + "' seen, a mapping expected");
  std::vector<NamedValue> named;
  for (const Entry& entry : arg[0].dict->entries) {
    if (entry.key.is_string()) named.push_back({entry.key.view(), entry.value});
  }
  return rt.spend(named.size()) ? brace_format(rt, self, {{}, named}) : Value();
}

/// Methods that exist in Python, so that `x.encode` is no missing attribute, but are not offered.
Value unsupported(Runtime& rt, const Value&, const Args&) {
  return rt.fail(ErrorKind::type, "call of a method of str seen that this engine does not have");
}

constexpr Method kStringMethods[] = {
    {"upper", upper},
    {"lower", lower},
    {"casefold", casefold},
    {"title", title},
    {"capitalize", capitalize},
    {"swapcase", swap_case},
    {"strip", strip_side<true, true>},
    {"lstrip", strip_side<true, false>},
    {"rstrip", strip_side<false, true>},
    {"startswith", has_affix<false>},
    {"endswith", has_affix<true>},
    {"find", find_text<false, false>},
    {"rfind", find_text<true, false>},
    {"index", find_text<false, true>},
    {"rindex", find_text<true, true>},
    {"count", count},
    {"split", split<false>},
    {"rsplit", split<true>},
    {"partition", partition<false>},
    {"rpartition", partition<true>},
    {"splitlines", lines},
    {"join", join},
    {"replace", replace},
    {"removeprefix", remove_affix<false>},
    {"removesuffix", remove_affix<true>},
    {"ljust", justify<Side::right>},
    {"rjust", justify<Side::left>},
    {"center", justify<Side::both>},
    {"zfill", zero_fill},
    {"expandtabs", expand_tabs},
    {"format", brace_format},
    {"format_map", format_map},
    {"encode", unsupported},
    {"translate", unsupported},
    {"maketrans", unsupported},
};

}  // namespace

std::span<const Method> string_methods() {
  return kStringMethods;
}

}  // namespace plumbline::templates::jinja
