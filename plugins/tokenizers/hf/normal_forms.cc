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

/// Marks in the order of their classes. utf8proc_decompose would do this too, in quadratic time.
void sort_marks(std::vector<utf8proc_int32_t>& points) {
  const auto is_base = [](utf8proc_int32_t c) { return combining_class(c) == 0; };
  for (auto first = points.begin(); first != points.end();) {
    if (is_base(*first)) {
      ++first;
      continue;
    }
    const auto last = std::find_if(first, points.end(), is_base);
    std::stable_sort(first, last, [](utf8proc_int32_t a, utf8proc_int32_t b) {
      return combining_class(a) < combining_class(b);
    });
    first = last;
  }
}

std::string normalised(NormalForm form, std::string_view unit) {
  std::vector<utf8proc_int32_t> points;
  for (size_t at = 0; at < unit.size();) {
    const utf8::Decoded next = utf8::decode(unit, at);
    const Decomposition parts(form, next.code_point);
    points.insert(points.end(), parts.points.begin(), parts.points.begin() + parts.n);
    at += next.n_bytes;
  }
  sort_marks(points);
  const size_t n = is_composed(form) ? compose(points.data(), points.size()) : points.size();
  std::string out;
  for (size_t i = 0; i < n; ++i) utf8::append(out, static_cast<char32_t>(points[i]));
  return out;
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
      if (const std::string better = normalised(form, unit); better != unit) {
        if (!changed) storage.clear();
        changed = true;
        storage.append(view.part(n_kept, begin));
        storage.append(better, view.source(begin, end));
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
