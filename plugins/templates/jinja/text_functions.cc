#include "text_functions.h"

#include "search.h"

#include <algorithm>

namespace plumbline::templates::jinja {

Value escaped(Runtime& rt, const Value& s) {
  if (s.is_markup()) return s;
  if (s.view().find_first_of("&<>\"'") == std::string_view::npos) return s.as_markup();
  if (!rt.spend_bytes(5 * std::uint64_t{s.n_bytes}) || !rt.fits(5 * std::uint64_t{s.n_bytes}))
    return s;
  Text out(rt);
  out.add_each(s.view(), [&](std::string_view part) {
    for (const char c : part) {
      switch (c) {
        case '&':
          out.own() += "&amp;";
          break;
        case '<':
          out.own() += "&lt;";
          break;
        case '>':
          out.own() += "&gt;";
          break;
        case '"':
          out.own() += "&#34;";
          break;
        case '\'':
          out.own() += "&#39;";
          break;
        default:
          out.own() += c;
      }
    }
  });
  return out.value().as_markup();
}

Value strip(Runtime& rt, const Value& s, const Value& points, bool left, bool right) {
  std::string_view rest = s.view();
  if (points.is_absent() || points.is_none()) {
    if (!rt.spend_bytes(rest.size())) return s;
    if (left) rest = text::strip_left(rest);
    if (right) rest = text::strip_right(rest);
    return Runtime::part_of(s, rest);
  }
  if (!points.is_string()) {
    return rt.fail(ErrorKind::type,
                   "strip: '" + std::string(type_name(points)) + "' seen, a string expected");
  }
  // Each code point of the text may be looked for in all of `points`.
  if (!rt.spend_bytes(std::uint64_t{s.n_bytes} * points.n_bytes)) return s;
  if (left) rest = text::strip_left(rest, points.view());
  if (right) rest = text::strip_right(rest, points.view());
  return Runtime::part_of(s, rest);
}

Value replace_text(Runtime& rt, const Value& s, std::string_view from, std::string_view to,
                   std::int64_t count) {
  const std::string_view all = s.view();
  if (!rt.spend_bytes(all.size())) return s;
  std::uint64_t left = count < 0 ? UINT64_MAX : static_cast<std::uint64_t>(count);
  if (left == 0 || (!from.empty() && text::find(all, from) == std::string_view::npos)) return s;
  Text out(rt);
  std::size_t at = 0;
  while (left > 0) {
    // An empty pattern matches before each code point and at the end.
    std::size_t found = from.empty() ? at : text::find(all, from, at);
    if (found == std::string_view::npos) break;
    if (!out.add(all.substr(at, found - at)) || !out.add(to)) return s;
    at = found + from.size();
    --left;
    if (from.empty()) {
      if (at >= all.size()) return out.value();
      std::size_t next = at;
      text::next_point(all, next);
      out.add(all.substr(at, next - at));
      at = next;
    }
  }
  out.add(all.substr(at));
  return out.value();
}

Line first_line(std::string_view s) {
  for (std::size_t at = 0; at < s.size();) {
    const std::size_t end = at;
    const char32_t point = text::next_point(s, at);
    const bool breaks = (point >= 0x0A && point <= 0x0D) || (point >= 0x1C && point <= 0x1E) ||
                        point == 0x85 || point == 0x2028 || point == 0x2029;
    if (!breaks) continue;
    if (point == '\r' && at < s.size() && s[at] == '\n') ++at;
    return {end, at - end};
  }
  return {s.size(), 0};
}

std::vector<std::string_view> split_lines(std::string_view s, bool keep_ends) {
  std::vector<std::string_view> lines;
  while (!s.empty()) {
    const Line line = first_line(s);
    lines.push_back(s.substr(0, line.n_bytes + (keep_ends ? line.n_end_bytes : 0)));
    s.remove_prefix(line.n_bytes + line.n_end_bytes);
  }
  return lines;
}

Value pad(Runtime& rt, const Value& s, std::int64_t width, char32_t fill, Side side) {
  const std::int64_t n = rt.length(s).value_or(0);
  if (width <= n) return s;
  const std::int64_t missing = width - n;
  std::string one;
  text::append_point(one, fill);
  if (!rt.fits(static_cast<std::uint64_t>(missing) * one.size()) ||
      !rt.spend_bytes(static_cast<std::uint64_t>(missing))) {
    return s;
  }
  // Source: CPython, unicode_center: an odd blank goes left only if the width is odd too.
  const std::int64_t left = side == Side::left    ? missing
                            : side == Side::right ? 0
                                                  : missing / 2 + (missing & width & 1);
  std::string out;
  for (std::int64_t i = 0; i < left; ++i) out += one;
  out += s.view();
  for (std::int64_t i = left; i < missing; ++i) out += one;
  return rt.string(out).as_kind_of(s);
}

std::string spaces(Runtime& rt, std::int64_t n) {
  if (n <= 0 || !rt.fits(static_cast<std::uint64_t>(n))) return "";
  return std::string(static_cast<std::size_t>(n), ' ');
}

}  // namespace plumbline::templates::jinja
