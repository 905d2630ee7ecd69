#include "core/editor/word_flow.h"

#include "core/editor/glyphs.h"

namespace plumbline::editor {
namespace {

constexpr std::string_view kFence = "```";

}  // namespace

void WordFlow::put_word(uint32_t n_columns, std::string& out) {
  if (word_.empty()) return;
  if (is_first_word_ && word_.starts_with(kFence)) is_fenced_ = !is_fenced_;
  const uint32_t n_blanks = columns(blanks_);
  const uint32_t n_word = columns(word_);
  // The last column stays free, as in an entry.
  const bool fits = column_ + n_blanks + n_word < n_columns;
  const bool breaks = !fits && !is_fenced_ && column_ > 0 && n_word < n_columns;
  out += breaks ? "\n" : blanks_;
  out += word_;
  column_ = breaks ? n_word : column_ + n_blanks + n_word;
  if (n_columns > 0) column_ %= n_columns;
  is_first_word_ = false;
  blanks_.clear();
  word_.clear();
}

std::string WordFlow::feed(std::string_view text, uint32_t n_columns) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const Glyph glyph = glyph_at(text, at);
    const std::string_view bytes = text.substr(at, glyph.n_bytes);
    at += glyph.n_bytes;
    if (bytes == "\n") {
      put_word(n_columns, out);
      out += "\n";
      column_ = 0;
      blanks_.clear();
      is_first_word_ = true;
    } else if (bytes == " " || bytes == "\t") {
      put_word(n_columns, out);
      blanks_ += bytes == " " ? " " : "    ";  // what comes before it is not known for sure
    } else {
      const bool is_wide = glyph.n_columns == 2;
      if (is_wide) put_word(n_columns, out);
      word_ += bytes;
      if (is_wide && at < text.size())
        put_word(n_columns, out);  // a mark may still follow the last
    }
  }
  return out;
}

std::string WordFlow::finish(uint32_t n_columns) {
  std::string out;
  put_word(n_columns, out);
  *this = {};
  return out;
}

}  // namespace plumbline::editor
