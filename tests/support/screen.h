// screen.h: a terminal's window as a test sees it: bytes in, rows of text out.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline::test {

/// Obeys what the project's programs send: text, line breaks, and the control sequences of cursor
/// and erasing (ECMA-48). Anything else is kept in unknown(). Widths are the C library's, so that
/// they are not the editor's own.
class Screen {
 public:
  /// joins: emoji around a zero width joiner are one picture, and so are skin tones, as younger
  /// terminals show them.
  Screen(size_t n_columns, size_t n_rows, bool joins = true);

  void feed(std::string_view bytes);
  /// Rows that have become too long are broken in two, as most terminals do.
  void resize(size_t n_columns, size_t n_rows);

  /// The window's rows without blanks at their ends, up to the last one that has any; with '|'
  /// where the cursor is.
  std::string text_with_cursor() const;
  /// The same without the cursor, and with the rows that have scrolled away.
  std::string all_text() const;

  size_t n_bells() const { return n_bells_; }
  bool is_paste_bracketed() const { return is_paste_bracketed_; }
  bool is_cursor_shown() const { return is_cursor_shown_; }
  bool wraps() const { return wraps_; }
  const std::string& unknown() const { return unknown_; }

 private:
  using Cell = std::string;  // "": the second half of the wide one before it
  using Row = std::vector<Cell>;

  void put(char32_t code_point, std::string_view bytes);
  void obey(std::string_view sequence);
  void line_feed();
  Row& row() { return rows_[top_ + at_row_]; }
  std::string text(size_t from, bool has_cursor) const;

  size_t n_columns_, n_rows_;
  bool joins_;
  std::vector<Row> rows_;
  size_t top_ = 0;  // the window's first row
  size_t at_row_ = 0, at_column_ = 0;
  bool is_join_ = false;
  std::string pending_;  // an unfinished sequence or character
  size_t n_bells_ = 0;
  bool is_paste_bracketed_ = false;
  bool is_cursor_shown_ = true;
  bool wraps_ = true;
  std::string unknown_;
};

}  // namespace plumbline::test
