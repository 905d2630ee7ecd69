#include "patterns.h"

namespace plumbline::tokenizers::hf {
namespace {

bool is_ascii_letter(uint8_t c) {
  return c < 128 && (kAsciiKinds[c] & kLetter) != 0;
}

/// [\p{P}$+<=>^~|]
bool is_default_punctuation(const Text& text, size_t at) {
  const char32_t c = text.code_point(at);
  return (kind_of(c) & kSign) != 0 &&
         (is_punctuation(c) ||
          (c < 128 &&
           std::string_view("$+<=>^~|").find(static_cast<char>(c)) != std::string_view::npos));
}

bool is_number(const Text& text, size_t at) {
  return text.character(at).is(kNumber);
}

/// The end of the run from `at` on whose characters all do, or all do not, satisfy `belongs(text,
/// at)`.
template <typename Belongs>
size_t same_end(const Text& text, size_t at, const Belongs& belongs) {
  const bool wanted = belongs(text, at);
  size_t end = at;
  while (end < text.size() && belongs(text, end) == wanted) end = text.character(end).end;
  return end;
}

bool has_three_digits(const Text& text, size_t at) {
  const auto is_digit = [&](size_t i) { return text.peek(i) >= '0' && text.peek(i) <= '9'; };
  return is_digit(at) && is_digit(at + 1) && is_digit(at + 2);
}

/// [0-9][0-9][0-9], or what lies before the next one.
size_t three_digits_end(const Text& text, size_t at) {
  if (has_three_digits(text, at)) return at + 3;
  while (at < text.size() && !has_three_digits(text, at)) at = text.character(at).end;
  return at;
}

/// [一-龥぀-ゟ゠-ヿ]
bool is_deepseek_cjk(const Text& text, size_t at) {
  if (text[at] < 0xE3) return false;
  const char32_t c = text.code_point(at);
  return (c >= 0x4E00 && c <= 0x9FA5) || (c >= 0x3040 && c <= 0x30FF);
}

}  // namespace

size_t digits_region_end(const Text& text, size_t at) {
  const Character first = text.character(at);
  return first.is(kNumber) ? first.end : text.run_end_of_others(at, kNumber);
}

size_t deepseek_region_end(const Text& text, size_t at) {
  const Character first = text.character(at);
  if (first.is(kNumber)) return numbers_end(text, at, 3);
  const bool is_cjk = is_deepseek_cjk(text, at);
  size_t end = first.end;
  while (end < text.size()) {
    const Character next = text.character(end);
    if (next.is(kNumber) || is_deepseek_cjk(text, end) != is_cjk) break;
    end = next.end;
  }
  return end;
}

size_t deepseek_end(const Text& text, size_t at) {
  constexpr uint8_t kWord = kLetter | kMark;
  const auto signs_end = [&](size_t from) {
    return text.run_end(text.run_end(from, kSign), kNewline);
  };
  const Character first = text.character(at);
  if (first.is(kWord)) return text.letters_end(first.end, kWord);
  const Character second = text.character_or_none(first.end);
  if (first.is(kSign)) {
    if (text[at] >= 128 || !is_ascii_letter(text.peek(first.end))) return signs_end(at);
    size_t end = first.end;
    while (is_ascii_letter(text.peek(end))) ++end;
    return end;
  }
  if (first.kind != kNewline && second.is(kWord)) return text.letters_end(second.end, kWord);
  if (text[at] == ' ' && second.is(kSign)) return signs_end(first.end);
  if (first.is(kSpace)) return newline_or_space_end(text, at);
  // Numbers and characters of no kind: a word up to the next match.
  size_t end = first.end;
  while (end < text.size()) {
    const Character next = text.character(end);
    if (next.is(kWord | kSign | kSpace)) break;
    if (text.character_or_none(next.end).is(kWord)) break;
    end = next.end;
  }
  return end;
}

size_t DefaultWords::next_end(const Text& text, size_t at) {
  if (at == region_end_) region_end_ = same_end(text, at, is_default_punctuation);
  if (at == word_end_) word_end_ = gpt2_end(text.first(region_end_), at);
  if (at == run_end_) run_end_ = same_end(text.first(word_end_), at, is_number);
  return three_digits_end(text.first(run_end_), at);
}

}  // namespace plumbline::tokenizers::hf
