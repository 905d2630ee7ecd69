#include "nfc.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace plumbline::tokenizers::hf {
namespace {

/// Below this, no character composes with what stands before it, and none changes alone.
constexpr char32_t kFirstThatMayChange = 0x300;

/// True if a unit ends before this character. All characters that compose backwards are marks or
/// Hangul vowels and finals.
bool starts_unit(char32_t c) {
  if (c < kFirstThatMayChange) return true;
  if (c >= 0x1160 && c <= 0x11FF) return false;
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category != UTF8PROC_CATEGORY_MN && category != UTF8PROC_CATEGORY_MC &&
         category != UTF8PROC_CATEGORY_ME;
}

void append_decomposed(char32_t c, std::vector<utf8proc_int32_t>& out) {
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);
  utf8proc_int32_t parts[8];  // the longest canonical decomposition has four
  int boundary = 0;
  const utf8proc_ssize_t n =
      utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts, 8, options, &boundary);
  if (n < 1 || n > 8) {
    out.push_back(static_cast<utf8proc_int32_t>(c));
  } else {
    out.insert(out.end(), parts, parts + n);
  }
}

utf8proc_propval_t combining_class(utf8proc_int32_t c) {
  return utf8proc_get_property(c)->combining_class;
}

/// utf8proc_decompose would do this too, but its ordering of marks takes quadratic time.
std::string normalised(std::string_view unit) {
  std::vector<utf8proc_int32_t> points;
  for (size_t at = 0; at < unit.size();) {
    const utf8::Decoded next = utf8::decode(unit, at);
    append_decomposed(next.code_point, points);
    at += next.n_bytes;
  }
  for (auto first = points.begin(); first != points.end();) {
    if (combining_class(*first) == 0) {
      ++first;
      continue;
    }
    const auto last = std::find_if(first, points.end(),
                                   [](utf8proc_int32_t c) { return combining_class(c) == 0; });
    std::stable_sort(first, last, [](utf8proc_int32_t a, utf8proc_int32_t b) {
      return combining_class(a) < combining_class(b);
    });
    first = last;
  }
  const utf8proc_ssize_t n =
      utf8proc_normalize_utf32(points.data(), static_cast<utf8proc_ssize_t>(points.size()),
                               static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  std::string out;
  for (utf8proc_ssize_t i = 0; i < n; ++i) utf8::append(out, static_cast<char32_t>(points[i]));
  return out;
}

bool changes_alone(char32_t c) {
  return c >= kFirstThatMayChange &&
         utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->decomp_seqindex != UINT16_MAX;
}

}  // namespace

tokenizer::MappedView to_nfc(const tokenizer::MappedView& view, tokenizer::MappedText& storage) {
  const std::string_view text = view.text();
  size_t n_kept = 0;  // text[0, n_kept) is in storage
  bool changed = false;
  for (size_t begin = 0; begin < text.size();) {
    const utf8::Decoded base = utf8::decode(text, begin);
    size_t end = begin + base.n_bytes;
    bool is_single = true;
    while (end < text.size() &&
           static_cast<uint8_t>(text[end]) >= 0xCC) {  // the lead byte of U+0300
      const utf8::Decoded next = utf8::decode(text, end);
      if (starts_unit(next.code_point)) break;
      end += next.n_bytes;
      is_single = false;
    }
    if (!is_single || changes_alone(base.code_point)) {
      const std::string_view unit = text.substr(begin, end - begin);
      if (const std::string better = normalised(unit); better != unit) {
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
