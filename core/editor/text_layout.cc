#include "core/editor/text_layout.h"

#include <algorithm>

#include "core/editor/glyphs.h"

namespace plumbline::editor {
namespace {

constexpr uint32_t kTabColumns = 8;

uint32_t tab_columns(uint32_t column) {
  return kTabColumns - column % kTabColumns;
}

}  // namespace

struct TextLayout::Step {
  size_t n_bytes;
  uint32_t n_columns;
};

TextLayout::TextLayout(std::string_view text, uint32_t n_columns, Indents indents)
    : text_(text), n_columns_(std::max(n_columns, 3u) - 1), indents_(indents) {
  indents_.first = std::min(indents_.first, n_columns_ - 2);
  indents_.others = std::min(indents_.others, n_columns_ - 2);
  size_t begin = 0;
  uint32_t column = indents_.first;
  const auto end_row = [&](size_t end, size_t next) {
    rows_.push_back({begin, end, column});
    begin = next;
    column = indents_.others;
  };
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '\n') {
      end_row(at, at + 1);
      ++at;
      continue;
    }
    const Step step = step_at(at, column);
    if (column + step.n_columns > n_columns_) {
      end_row(at, at);
      continue;
    }
    column += step.n_columns;
    at += step.n_bytes;
  }
  end_row(text.size(), text.size());
}

TextLayout::Step TextLayout::step_at(size_t at, uint32_t column) const {
  const Glyph glyph = glyph_at(text_, at);
  if (text_[at] != '\t') return {glyph.n_bytes, glyph.n_columns};
  // A tab fills its row and goes on no further.
  return {1, std::max(std::min(tab_columns(column), n_columns_ - column), 1u)};
}

Place TextLayout::place_of(size_t cursor) const {
  // Where rows are wrapped softly, the cursor stands in the second one.
  const auto after = std::upper_bound(rows_.begin(), rows_.end(), cursor,
                                      [](size_t at, const Row& row) { return at < row.begin; });
  const auto row = static_cast<size_t>(after - rows_.begin()) - 1;
  uint32_t column = indent_of(row);
  for (size_t at = rows_[row].begin; at < cursor;) {
    const Step step = step_at(at, column);
    column += step.n_columns;
    at += step.n_bytes;
  }
  return {row, column};
}

size_t TextLayout::cursor_at(Place place) const {
  const Row& row = rows_[place.row];
  const bool is_soft = place.row + 1 < rows_.size() && rows_[place.row + 1].begin == row.end;
  uint32_t column = indent_of(place.row);
  size_t at = row.begin;
  while (at < row.end) {
    const Step step = step_at(at, column);
    if (column + step.n_columns > place.column) break;
    if (is_soft && at + step.n_bytes == row.end) break;  // behind it is the next row
    column += step.n_columns;
    at += step.n_bytes;
  }
  return at;
}

std::string TextLayout::shown_row(size_t row) const {
  const std::string_view line = text_.substr(0, rows_[row].end);
  std::string shown;
  uint32_t column = indent_of(row);
  bool is_sure = true;  // the terminal's column is ours
  for (size_t at = rows_[row].begin; at < line.size();) {
    const Step step = step_at(at, column);
    const Glyph glyph = glyph_at(line, at);
    const bool is_ascii = glyph.n_code_points == 1 && glyph.n_bytes == 1;
    if (!is_sure && (is_ascii || glyph.n_code_points > 1)) {
      shown += "\x1b[" + std::to_string(column + 1) + "G\x1b[K";
      is_sure = true;
    }
    shown += line[at] == '\t' ? std::string(step.n_columns, ' ') : shown_glyph(line, at, glyph);
    is_sure &= is_ascii;
    column += step.n_columns;
    at += step.n_bytes;
  }
  return shown;
}

std::string shown_line(std::string_view text, uint32_t column) {
  return TextLayout(text, UINT32_MAX, {column, column}).shown_row(0);
}

}  // namespace plumbline::editor
