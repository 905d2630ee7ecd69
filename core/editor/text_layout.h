// text_layout.h: a text in rows of a window: soft wrap, hanging indent, where the cursor is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline::editor {

struct Place {
  size_t row = 0;
  uint32_t column = 0;

  bool operator==(const Place&) const = default;
};

struct Indents {
  uint32_t first = 0;  // columns in front of the first row
  uint32_t others = 0;
};

/// Rows of at most n_columns columns. The last one is left to the cursor, so that no terminal's own
/// wrap is met.
class TextLayout {
 public:
  struct Row {
    size_t begin;  // bytes of the text
    size_t end;  // without the line break
    uint32_t n_columns;  // with the indent
  };

  TextLayout(std::string_view text, uint32_t n_columns, Indents indents);

  const std::vector<Row>& rows() const { return rows_; }
  Place place_of(size_t cursor) const;
  /// The cursor nearest to a place, not behind it.
  size_t cursor_at(Place place) const;
  /// A row's text, indent not included, as bytes for a terminal. Where the terminal may count
  /// columns in another way, the column is set anew, and what went further is erased.
  std::string shown_row(size_t row) const;

 private:
  struct Step;
  /// The glyph at byte `at` in a row that is filled up to `column`.
  Step step_at(size_t at, uint32_t column) const;
  uint32_t indent_of(size_t row) const { return row == 0 ? indents_.first : indents_.others; }

  std::string_view text_;
  uint32_t n_columns_;
  Indents indents_;
  std::vector<Row> rows_;
};

/// Text of one line as bytes for a terminal, from a column on, as shown_row does it.
std::string shown_line(std::string_view text, uint32_t column);

}  // namespace plumbline::editor
