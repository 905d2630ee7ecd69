#include "core/editor/edit_buffer.h"

#include <algorithm>

#include "core/editor/glyphs.h"

namespace plumbline::editor {
namespace {

bool is_blank(char byte) {
  return byte == ' ' || byte == '\t' || byte == '\n';
}

}  // namespace

void EditBuffer::set(std::string text) {
  text_ = std::move(text);
  cursor_ = text_.size();
}

bool EditBuffer::insert(std::string_view text) {
  if (text.size() > kBytesMax - std::min(text_.size(), kBytesMax)) return false;
  text_.insert(cursor_, text);
  const size_t end = cursor_ + text.size();
  cursor_ = end;
  // What was inserted may have joined the glyph in front of the cursor or the one behind it.
  if (cursor_ < text_.size()) {
    const size_t start = glyph_before(text_, cursor_);
    const size_t next = start + glyph_at(text_, start).n_bytes;
    if (next > cursor_) cursor_ = next;
  }
  return true;
}

size_t EditBuffer::left() const {
  return glyph_before(text_, cursor_);
}

size_t EditBuffer::right() const {
  return cursor_ == text_.size() ? cursor_ : cursor_ + glyph_at(text_, cursor_).n_bytes;
}

bool EditBuffer::is_word_at(size_t at) const {
  const auto byte = static_cast<unsigned char>(text_[at]);
  return byte >= 0x80 || (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= 'a' && byte <= 'z');
}

size_t EditBuffer::word_left() const {
  size_t at = cursor_;
  while (at > 0 && !is_word_at(at - 1)) --at;
  while (at > 0 && is_word_at(at - 1)) --at;
  return at;
}

size_t EditBuffer::word_right() const {
  size_t at = cursor_;
  while (at < text_.size() && !is_word_at(at)) ++at;
  while (at < text_.size() && is_word_at(at)) ++at;
  return at;
}

size_t EditBuffer::blank_word_left() const {
  size_t at = cursor_;
  while (at > 0 && is_blank(text_[at - 1])) --at;
  while (at > 0 && !is_blank(text_[at - 1])) --at;
  return at;
}

size_t EditBuffer::line_start() const {
  if (cursor_ == 0) return 0;
  const size_t line_break = text_.rfind('\n', cursor_ - 1);
  return line_break == text_.npos ? 0 : line_break + 1;
}

size_t EditBuffer::line_end() const {
  return std::min(text_.find('\n', cursor_), text_.size());
}

void EditBuffer::erase(size_t begin, size_t end) {
  text_.erase(begin, end - begin);
  cursor_ = begin;
}

void EditBuffer::kill(size_t begin, size_t end) {
  if (begin == end) return;
  if (!is_killing_) killed_.clear();
  const std::string_view part = std::string_view(text_).substr(begin, end - begin);
  killed_.insert(begin < cursor_ ? 0 : killed_.size(), part);
  is_killing_ = true;
  erase(begin, end);
}

}  // namespace plumbline::editor
