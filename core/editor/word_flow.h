// word_flow.h: text that comes in pieces, broken between words to fit a window.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace plumbline::editor {

/// Breaks lines at blanks, beside wide characters and those of scripts without blanks; a word that
/// is wider than the window is left to the terminal, and so are lines between fences (```), which
/// people copy. An unfinished word is kept back until it is whole or as wide as the window; what is
/// left to the terminal comes at once, but for the last glyph, on which a mark may follow. Takes
/// what terminals obey for text: make it harmless first.
class WordFlow {
 public:
  /// What of the text is sure, with line breaks where they must be.
  std::string feed(std::string_view text, uint32_t n_columns);
  /// The rest. The next piece begins a new line.
  std::string finish(uint32_t n_columns);

  bool is_at_line_start() const { return column_ == 0 && word_.empty() && blanks_.empty(); }

 private:
  /// The word is whole.
  void put_word(uint32_t n_columns, std::string& out);
  void end_word(uint32_t n_columns, std::string& out);
  /// What of it stays where it is, however it goes on.
  void put_begun_word(uint32_t n_columns, std::string& out);

  uint32_t column_ = 0;
  std::string blanks_;  // before the word, not written yet
  std::string word_;
  bool is_inside_word_ = false;  // its beginning is written
  bool is_first_word_ = true;  // of its line
  bool is_fenced_ = false;
};

}  // namespace plumbline::editor
