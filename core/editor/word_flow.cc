#include "core/editor/word_flow.h"

#include <algorithm>
#include <iterator>

#include "core/editor/glyphs.h"
#include "plumb/sdk/utf8.h"

namespace plumbline::editor {
namespace {

constexpr std::string_view kFence = "```";

struct Block {
  char32_t first, last;
};

/// Scripts of South East Asia, which write no blanks between words.
/// Source  Unicode Standard Annex 14, class SA.
constexpr Block kUnspaced[] = {{0x0E00, 0x0EFF}, {0x1000, 0x109F}, {0x1780, 0x17FF},
                               {0x1950, 0x19DF}, {0x1A20, 0x1AAF}, {0xA9E0, 0xA9FF},
                               {0xAA60, 0xAADF}};

/// A row may end beside it.
bool stands_alone(const Glyph& glyph, std::string_view bytes) {
  if (glyph.n_columns == 2) return true;
  const char32_t first = utf8::decode(bytes, 0).code_point;
  return std::any_of(std::begin(kUnspaced), std::end(kUnspaced),
                     [&](Block block) { return first >= block.first && first <= block.last; });
}

/// Vowels of Thai and Lao that are written before their consonant: no row ends behind one.
bool ends_with_leading_vowel(std::string_view word) {
  if (word.size() < 3) return false;
  const char32_t last = utf8::decode(word, word.size() - 3).code_point;
  return (last >= 0x0E40 && last <= 0x0E44) || (last >= 0x0EC0 && last <= 0x0EC4);
}

}  // namespace

void WordFlow::put_word(uint32_t n_columns, std::string& out) {
  if (word_.empty()) return;
  if (is_first_word_ && word_.starts_with(kFence)) is_fenced_ = !is_fenced_;
  const uint32_t n_blanks = columns(blanks_);
  const uint32_t n_word = columns(word_);
  // The last column stays free, as in an entry.
  const bool fits = column_ + n_blanks + n_word < n_columns;
  const bool breaks = !fits && !is_fenced_ && !is_inside_word_ && column_ > 0 && n_word < n_columns;
  out += breaks ? "\n" : blanks_;
  out += word_;
  column_ = breaks ? n_word : column_ + n_blanks + n_word;
  if (n_columns > 0) column_ %= n_columns;
  is_first_word_ = false;
  blanks_.clear();
  word_.clear();
}

void WordFlow::put_begun_word(uint32_t n_columns, std::string& out) {
  if (word_.empty() || (!is_fenced_ && !is_inside_word_ && columns(word_) < n_columns)) return;
  // A mark may still follow the last glyph.
  const size_t n_sure = glyph_before(word_, word_.size());
  const std::string_view sure = std::string_view(word_).substr(0, n_sure);
  if (sure.empty() || (is_first_word_ && sure.size() < kFence.size() && kFence.starts_with(sure)))
    return;
  std::string last = word_.substr(n_sure);
  word_.resize(n_sure);
  is_inside_word_ = true;  // from here on it is the terminal's
  put_word(n_columns, out);
  word_ = std::move(last);
}

void WordFlow::end_word(uint32_t n_columns, std::string& out) {
  put_word(n_columns, out);
  is_inside_word_ = false;
}

std::string WordFlow::feed(std::string_view text, uint32_t n_columns) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const Glyph glyph = glyph_at(text, at);
    const std::string_view bytes = text.substr(at, glyph.n_bytes);
    at += glyph.n_bytes;
    if (bytes == "\n") {
      end_word(n_columns, out);
      out += "\n";
      column_ = 0;
      blanks_.clear();
      is_first_word_ = true;
    } else if (bytes == " " || bytes == "\t") {
      end_word(n_columns, out);
      blanks_ += bytes == " " ? " " : "    ";  // what comes before it is not known for sure
    } else {
      const bool is_alone = stands_alone(glyph, bytes);
      if (is_alone && !ends_with_leading_vowel(word_)) end_word(n_columns, out);
      word_ += bytes;
      // A mark may still follow the last.
      if (is_alone && at < text.size() && !ends_with_leading_vowel(word_)) end_word(n_columns, out);
    }
  }
  put_begun_word(n_columns, out);
  return out;
}

std::string WordFlow::finish(uint32_t n_columns) {
  std::string out;
  put_word(n_columns, out);
  *this = {};
  return out;
}

}  // namespace plumbline::editor
