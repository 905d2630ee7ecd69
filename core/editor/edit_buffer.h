// edit_buffer.h: a text under work: where the cursor is, and what the editing keys do to both.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace plumbline::editor {

/// The text is editable text (glyphs.h); the cursor stands at the start of a glyph or at the end.
/// Words are runs of letters, digits and what is not ASCII.
class EditBuffer {
 public:
  /// More is not taken: a paste of some books, and no end of memory.
  static constexpr size_t kBytesMax = size_t{32} << 20;

  const std::string& text() const { return text_; }
  size_t cursor() const { return cursor_; }
  bool is_empty() const { return text_.empty(); }

  /// Cursor at the end.
  void set(std::string text);
  void move_to(size_t cursor) { cursor_ = cursor; }
  /// At the cursor. False: there is no room for it, nothing was changed.
  bool insert(std::string_view text);

  size_t left() const;
  size_t right() const;
  size_t word_left() const;
  size_t word_right() const;
  /// As word_left, but words are what stands between blanks.
  size_t blank_word_left() const;
  size_t line_start() const;
  size_t line_end() const;

  void erase(size_t begin, size_t end);
  /// The same, and keeps what was erased for yank. What is killed right behind another kill is
  /// joined to it.
  void kill(size_t begin, size_t end);
  /// The next kill stands alone.
  void end_kills() { is_killing_ = false; }
  bool yank() { return insert(killed_); }

 private:
  bool is_word_at(size_t at) const;

  std::string text_;
  size_t cursor_ = 0;
  std::string killed_;
  bool is_killing_ = false;
};

}  // namespace plumbline::editor
