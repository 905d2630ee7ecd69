#include "core/editor/glyphs.h"

#include <utf8proc.h>

#include <algorithm>

#include "core/base/printable.h"
#include "plumb/sdk/utf8.h"

namespace plumbline::editor {
namespace {

constexpr char32_t kEmojiPresentation = 0xFE0F;
constexpr std::string_view kDottedCircle = "\u25CC";  // carries marks that have no letter

bool is_plain(char byte) {
  return byte >= 0x20 && byte < 0x7f;
}

bool is_obeyed(std::string_view glyph) {
  return printable(glyph) != glyph;
}

bool is_mark(char32_t code_point) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code_point));
  return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_ME;
}

/// utf8proc has no column for a spacing mark, terminals have one.
int width_of(char32_t code_point) {
  const auto value = static_cast<utf8proc_int32_t>(code_point);
  return utf8proc_category(value) == UTF8PROC_CATEGORY_MC ? 1 : utf8proc_charwidth(value);
}

bool is_control(char32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0);
}

}  // namespace

Glyph glyph_at(std::string_view text, size_t at) {
  const char first = text[at];
  const bool is_last = at + 1 == text.size();
  if (is_plain(first) && (is_last || is_plain(text[at + 1]) || text[at + 1] == '\n'))
    return {1, 1, 1};
  if (first == '\n' || first == '\t') return {1, 0, 1};

  utf8::Decoded now = utf8::decode(text, at);
  Glyph glyph{now.n_bytes, 0, 1};
  int width = is_mark(now.code_point) ? 1 : width_of(now.code_point);
  utf8proc_int32_t state = 0;
  while (at + glyph.n_bytes < text.size()) {
    const utf8::Decoded next = utf8::decode(text, at + glyph.n_bytes);
    const auto code_point = static_cast<utf8proc_int32_t>(next.code_point);
    if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(now.code_point), code_point,
                                         &state)) {
      break;
    }
    width += width_of(next.code_point);
    if (next.code_point == kEmojiPresentation) width = 2;
    glyph.n_bytes += next.n_bytes;
    ++glyph.n_code_points;
    now = next;
  }
  // Letters with spacing marks add up; joined emoji, flags and skin tones are two columns together.
  glyph.n_columns = static_cast<uint32_t>(std::clamp(width, 0, 2));
  if (is_obeyed(text.substr(at, glyph.n_bytes))) glyph.n_columns = 1;
  return glyph;
}

size_t glyph_before(std::string_view text, size_t at) {
  if (at == 0) return 0;
  // A glyph starts at every printable ASCII byte behind another and at every line break.
  size_t from = at - 1;
  while (from > 0 && text[from] != '\n' && !(is_plain(text[from]) && is_plain(text[from - 1])))
    --from;
  for (;;) {
    const size_t next = from + glyph_at(text, from).n_bytes;
    if (next >= at) return from;
    from = next;
  }
}

std::string shown_glyph(std::string_view text, size_t at, const Glyph& glyph) {
  const std::string_view bytes = text.substr(at, glyph.n_bytes);
  if (is_obeyed(bytes)) return glyph.n_columns == 0 ? "" : "?";
  if (glyph.n_columns > 0 && is_mark(utf8::decode(bytes, 0).code_point))
    return std::string(kDottedCircle) + std::string(bytes);
  return std::string(bytes);
}

uint32_t columns(std::string_view text) {
  uint32_t sum = 0;
  for (size_t at = 0; at < text.size();) {
    const Glyph glyph = glyph_at(text, at);
    sum += glyph.n_columns;
    at += glyph.n_bytes;
  }
  return sum;
}

std::string cut_to_columns(std::string_view text, uint32_t n_columns) {
  if (columns(text) <= n_columns) return std::string(text);
  if (n_columns == 0) return "";
  uint32_t used = 0;
  size_t at = 0;
  for (;;) {
    const Glyph glyph = glyph_at(text, at);
    if (used + glyph.n_columns > n_columns - 1) break;
    used += glyph.n_columns;
    at += glyph.n_bytes;
  }
  return std::string(text.substr(0, at)) + "…";
}

std::string editable(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (size_t at = 0; at < bytes.size();) {
    const utf8::Decoded next = utf8::decode(bytes, at);
    const bool is_return = next.code_point == '\r';
    if (is_return) {
      text += '\n';
      at += bytes.substr(at).starts_with("\r\n") ? 2 : 1;
      continue;
    }
    const bool is_kept = next.code_point == '\n' || next.code_point == '\t' ||
                         (next.form == utf8::Form::kWellFormed && !is_control(next.code_point));
    if (is_kept) {
      text.append(bytes.substr(at, next.n_bytes));
    } else {
      utf8::append(text, utf8::kReplacement);
    }
    at += next.n_bytes;
  }
  return text;
}

}  // namespace plumbline::editor
