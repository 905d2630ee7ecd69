// glyphs.h: what a person takes for one character, and how wide a terminal shows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace plumbline::editor {

/// An extended grapheme cluster.
/// Source  Unicode Standard Annex 29, as utf8proc has it.
struct Glyph {
  size_t n_bytes = 0;
  uint32_t n_columns = 0;
  uint32_t n_code_points = 0;
};

/// The one that starts at byte `at`, which must lie inside the text. Line breaks and tabs are
/// glyphs without columns of their own; what else a terminal may obey has the one of its '?'.
Glyph glyph_at(std::string_view text, size_t at);

/// The start of the glyph before byte `at`; 0 at the start.
size_t glyph_before(std::string_view text, size_t at);

/// As a terminal shows it: one column for each that is counted, nothing that a terminal obeys.
std::string shown_glyph(std::string_view text, size_t at, const Glyph& glyph);

/// Of a text of one line.
uint32_t columns(std::string_view text);

/// As many whole glyphs of a line as fit; what is cut ends in "…".
std::string cut_to_columns(std::string_view text, uint32_t n_columns);

/// Any bytes as text that can be edited and shown: well-formed UTF-8, line breaks as '\n', no other
/// control characters but tabs. What was there otherwise is U+FFFD.
std::string editable(std::string_view bytes);

}  // namespace plumbline::editor
