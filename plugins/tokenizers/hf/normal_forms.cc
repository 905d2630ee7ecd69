#include "normal_forms.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "unicode.h"

namespace plumbline::tokenizers::hf {
namespace {

bool is_composed(NormalForm form) {
  return form == NormalForm::kNfc || form == NormalForm::kNfkc;
}
bool is_compatible(NormalForm form) {
  return form == NormalForm::kNfkc || form == NormalForm::kNfkd;
}

/// Bytes below this begin no character that a form changes: U+0300, U+00C0, U+0080.
uint8_t first_lead(NormalForm form) {
  switch (form) {
    case NormalForm::kNfc:
      return 0xCC;
    case NormalForm::kNfd:
      return 0xC3;
    default:
      return 0xC2;
  }
}

utf8proc_propval_t combining_class(utf8proc_int32_t c) {
  return is_later_in_normal_forms(static_cast<char32_t>(c))
             ? 0
             : utf8proc_get_property(c)->combining_class;
}

/// The whole decomposition of a character. U+FDFA has the longest, 18.
struct Decomposition {
  std::array<utf8proc_int32_t, 24> points;
  size_t n;

  Decomposition(NormalForm form, char32_t c) {
    const int options =
        UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | (is_compatible(form) ? UTF8PROC_COMPAT : 0);
    int boundary = 0;
    utf8proc_ssize_t written = 0;
    if (!is_later_in_normal_forms(c)) {
      written = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), points.data(),
                                        static_cast<utf8proc_ssize_t>(points.size()),
                                        static_cast<utf8proc_option_t>(options), &boundary);
    }
    if (written < 1 || written > static_cast<utf8proc_ssize_t>(points.size())) {
      points[0] = static_cast<utf8proc_int32_t>(c);
      written = 1;
    }
    n = static_cast<size_t>(written);
  }
  bool is_itself(char32_t c) const {
    return n == 1 && points[0] == static_cast<utf8proc_int32_t>(c);
  }
};

/// True if nothing that begins with this code point composes with what stands before it. All that
/// compose backwards are marks or Hangul vowels and finals.
bool begins_unit(utf8proc_int32_t c) {
  if (c < 0x300) return true;
  if (c >= 0x1160 && c <= 0x11FF) return false;
  if (is_later_in_normal_forms(static_cast<char32_t>(c))) return true;
  const utf8proc_category_t category = utf8proc_category(c);
  return category != UTF8PROC_CATEGORY_MN && category != UTF8PROC_CATEGORY_MC &&
         category != UTF8PROC_CATEGORY_ME;
}

/// How many of these code points are left when those that compose have.
size_t compose(utf8proc_int32_t* points, size_t n) {
  const utf8proc_ssize_t left =
      utf8proc_normalize_utf32(points, static_cast<utf8proc_ssize_t>(n),
                               static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  return left < 0 ? n : static_cast<size_t>(left);
}

/// Does a unit of this one character change?
bool changes_alone(NormalForm form, char32_t c) {
  const bool is_hangul = c >= 0xAC00 && c <= 0xD7A3;  // decomposed by rule, not by table
  if (is_hangul) return !is_composed(form);
  if (utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->decomp_seqindex == UINT16_MAX)
    return false;
  Decomposition parts(form, c);
  if (is_composed(form)) parts.n = compose(parts.points.data(), parts.n);
  return !parts.is_itself(c);
}

/// A code point and the bytes of its unit that it comes from.
struct Point {
  utf8proc_int32_t c;
  size_t begin;
  size_t end;
};

std::vector<Point> decomposed(NormalForm form, std::string_view unit) {
  std::vector<Point> points;
  for (size_t at = 0; at < unit.size();) {
    const utf8::Decoded next = utf8::decode(unit, at);
    const Decomposition parts(form, next.code_point);
    for (size_t i = 0; i < parts.n; ++i) points.push_back({parts.points[i], at, at + next.n_bytes});
    at += next.n_bytes;
  }
  return points;
}

/// Marks in the order of their classes. utf8proc_decompose would do this too, in quadratic time.
void sort_marks(std::vector<Point>& points) {
  const auto is_base = [](const Point& point) { return combining_class(point.c) == 0; };
  for (auto first = points.begin(); first != points.end();) {
    if (is_base(*first)) {
      ++first;
      continue;
    }
    const auto last = std::find_if(first, points.end(), is_base);
    std::stable_sort(first, last, [](const Point& a, const Point& b) {
      return combining_class(a.c) < combining_class(b.c);
    });
    first = last;
  }
}

/// What two code points compose to, or -1.
utf8proc_int32_t composition(utf8proc_int32_t starter, utf8proc_int32_t c) {
  if (is_later_in_normal_forms(static_cast<char32_t>(c))) return -1;
  utf8proc_int32_t pair[2] = {starter, c};
  return compose(pair, 2) == 1 ? pair[0] : -1;
}

/// Source  The Unicode Standard, section 3.11, D117: with the last starter, unless something
/// between
///         has as high a class.
void compose_marks(std::vector<Point>& points) {
  size_t n = 0;
  size_t starter = points.size();
  for (const Point point : points) {
    const utf8proc_propval_t order = combining_class(point.c);
    const bool is_next = starter + 1 == n;
    if (starter < n && (is_next || (combining_class(points[n - 1].c) != 0 &&
                                    combining_class(points[n - 1].c) < order))) {
      const utf8proc_int32_t both = composition(points[starter].c, point.c);
      if (both >= 0) {
        points[starter] = {both, points[starter].begin, point.end};
        continue;
      }
    }
    if (order == 0) starter = n;
    points[n++] = point;
  }
  points.resize(n);
}

/// Sources that are in order again: what changed places shares them.
void order_sources(std::vector<Point>& points) {
  for (size_t i = 1; i < points.size(); ++i)
    points[i].end = std::max(points[i].end, points[i - 1].end);
  for (size_t i = points.size(); i-- > 1;)
    points[i - 1].begin = std::min(points[i - 1].begin, points[i].begin);
}

std::vector<Point> normalised(NormalForm form, std::string_view unit) {
  std::vector<Point> points = decomposed(form, unit);
  sort_marks(points);
  if (is_composed(form)) compose_marks(points);
  order_sources(points);
  return points;
}

bool is_same(std::string_view unit, const std::vector<Point>& points) {
  size_t at = 0;
  for (const Point& point : points) {
    if (at == unit.size()) return false;
    const utf8::Decoded next = utf8::decode(unit, at);
    if (static_cast<utf8proc_int32_t>(next.code_point) != point.c) return false;
    at += next.n_bytes;
  }
  return at == unit.size();
}

}  // namespace

tokenizer::MappedView to_normal_form(NormalForm form, const tokenizer::MappedView& view,
                                     tokenizer::MappedText& storage) {
  const std::string_view text = view.text();
  const uint8_t lead = first_lead(form);
  const auto may_change = [&](char byte) { return static_cast<uint8_t>(byte) >= lead; };
  const auto begins = [&](char32_t c) {
    return begins_unit(is_compatible(form) ? Decomposition(form, c).points[0]
                                           : static_cast<utf8proc_int32_t>(c));
  };
  size_t n_kept = 0;  // text[0, n_kept) is in storage
  bool changed = false;
  std::string character;
  for (size_t begin = 0; begin < text.size();) {
    // What stands before a character that may change can be its base.
    const size_t found = static_cast<size_t>(
        std::find_if(text.begin() + static_cast<std::ptrdiff_t>(begin), text.end(), may_change) -
        text.begin());
    if (found == text.size()) break;
    if (found > begin) {
      begin = found - 1;
      while (utf8::is_continuation(text[begin])) --begin;
    }
    const utf8::Decoded base = utf8::decode(text, begin);
    size_t end = begin + base.n_bytes;
    bool is_single = true;
    while (end < text.size() && may_change(text[end])) {
      const utf8::Decoded next = utf8::decode(text, end);
      if (begins(next.code_point)) break;
      end += next.n_bytes;
      is_single = false;
    }
    if (!is_single || changes_alone(form, base.code_point)) {
      const std::string_view unit = text.substr(begin, end - begin);
      if (const std::vector<Point> points = normalised(form, unit); !is_same(unit, points)) {
        if (!changed) storage.clear();
        changed = true;
        storage.append(view.part(n_kept, begin));
        for (const Point& point : points) {
          character.clear();
          utf8::append(character, static_cast<char32_t>(point.c));
          storage.append(character, view.source(begin + point.begin, begin + point.end));
        }
        n_kept = end;
      }
    }
    begin = end;
  }
  if (!changed) return view;
  storage.append(view.part(n_kept, text.size()));
  return storage.view();
}

}  // namespace plumbline::tokenizers::hf
