// scan.h: the steps that the splitters of the patterns are made of.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "kinds.h"

namespace plumbline::tokenizers::hf {

/// A character's kind and where the next one begins.
struct Character {
  uint8_t kind;
  size_t end;

  bool is(uint8_t kinds) const { return (kind & kinds) != 0; }
};

/// A well-formed text up to a position that cuts no character: what lies behind it is not there.
class Text {
 public:
  explicit Text(std::string_view text)
      : data_(text.data()), size_(text.size()), bmp_kinds_(bmp_kinds().data()) {}

  size_t size() const { return size_; }
  Text first(size_t n_bytes) const {
    Text part = *this;
    part.size_ = n_bytes;
    return part;
  }
  uint8_t operator[](size_t at) const { return static_cast<uint8_t>(data_[at]); }
  /// Zero behind the end.
  uint8_t peek(size_t at) const { return at < size_ ? (*this)[at] : uint8_t{0}; }

  char32_t code_point(size_t at) const {
    const auto low = [&](size_t i) { return (*this)[at + i] & 0x3Fu; };
    const uint8_t lead = (*this)[at];
    if (lead < 0x80) return lead;
    if (lead < 0xE0) return (lead & 0x1Fu) << 6 | low(1);
    if (lead < 0xF0) return (lead & 0xFu) << 12 | low(1) << 6 | low(2);
    return (lead & 7u) << 18 | low(1) << 12 | low(2) << 6 | low(3);
  }

  Character character(size_t at) const {
    const uint8_t lead = (*this)[at];
    if (lead < 0x80) return {kAsciiKinds[lead], at + 1};
    const char32_t c = code_point(at);
    if (c < 0x10000) return {bmp_kinds_[c], at + (lead < 0xE0 ? 2 : 3)};
    return {kind_of(c), at + 4};
  }
  /// A character of no kind behind the end.
  Character character_or_none(size_t at) const {
    return at < size_ ? character(at) : Character{0, at};
  }

  /// The end of the longest run of characters from `at` on whose kind is one of these.
  size_t run_end(size_t at, uint8_t kinds) const {
    while (at < size_) {
      const Character next = character(at);
      if (!next.is(kinds)) break;
      at = next.end;
    }
    return at;
  }
  /// The end of the longest run of characters from `at` on whose kind is none of these.
  size_t run_end_of_others(size_t at, uint8_t kinds) const {
    while (at < size_) {
      const Character next = character(at);
      if (next.is(kinds)) break;
      at = next.end;
    }
    return at;
  }

  /// run_end for letters of both cases, or of the lower one, eight bytes at a time while they are
  /// ASCII.
  size_t letters_end(size_t at, uint8_t kinds) const { return run_end(skip<0x20>(at), kinds); }
  size_t lower_end(size_t at, uint8_t kinds) const { return run_end(skip<0>(at), kinds); }

 private:
  /// The first byte from `at` on that, with the bits of kFold set, is none of 'a' to 'z'; or an
  /// earlier one near the text's end.
  template <uint8_t kFold>
  size_t skip(size_t at) const {
    constexpr uint64_t kOnes = 0x0101010101010101u;
    constexpr uint64_t kHigh = kOnes * 0x80;
    if constexpr (std::endian::native != std::endian::little) return at;
    while (at + 8 <= size_) {
      uint64_t bytes = 0;
      std::memcpy(&bytes, data_ + at, 8);
      const uint64_t folded = (bytes | kOnes * kFold) & ~kHigh;
      const uint64_t from_a = folded + kOnes * (0x80 - 'a');
      const uint64_t behind_z = folded + kOnes * (0x80 - 'z' - 1);
      const uint64_t others = (~from_a | behind_z | bytes) & kHigh;
      if (others != 0) return at + static_cast<size_t>(std::countr_zero(others)) / 8;
      at += 8;
    }
    return at;
  }

  const char* data_;
  size_t size_;
  const uint8_t* bmp_kinds_;
};

/// 's 't 're 've 'm 'll 'd at `at`; 0 if none. With fold_case as (?i:...), where U+017F is an s.
inline size_t contraction_end(const Text& text, size_t at, bool fold_case) {
  if (text.peek(at) != '\'') return 0;
  const auto letter = [&](size_t i) -> uint8_t {
    const uint8_t c = text.peek(i);
    return fold_case && c >= 'A' && c <= 'Z' ? static_cast<uint8_t>(c | 0x20) : c;
  };
  switch (letter(at + 1)) {
    case 's':
    case 't':
    case 'm':
    case 'd':
      return at + 2;
    case 'r':
    case 'v':
      return letter(at + 2) == 'e' ? at + 3 : 0;
    case 'l':
      return letter(at + 2) == 'l' ? at + 3 : 0;
    case 0xC5:
      return fold_case && text.peek(at + 2) == 0xBF ? at + 3 : 0;
    default:
      return 0;
  }
}

/// \p{N}{1,most} at a number.
inline size_t numbers_end(const Text& text, size_t at, uint32_t most) {
  for (uint32_t n = 0; n < most && at < text.size(); ++n) {
    const Character next = text.character(at);
    if (!next.is(kNumber)) break;
    at = next.end;
  }
  return at;
}

/// \s+(?!\S)|\s+ : all of a run at the text's end, else all but its last character, which goes with
/// what follows.
inline size_t space_end(const Text& text, size_t at) {
  size_t last_begin = at;
  size_t end = at;
  while (end < text.size()) {
    const Character next = text.character(end);
    if (!next.is(kSpace)) return last_begin > at ? last_begin : end;
    last_begin = end;
    end = next.end;
  }
  return end;
}

/// \s*[\r\n]+|\s+(?!\S)|\s+ : up to the last newline of the run, if it has one.
inline size_t newline_or_space_end(const Text& text, size_t at) {
  size_t after_newline = 0;
  size_t last_begin = at;
  size_t end = at;
  while (end < text.size()) {
    const Character next = text.character(end);
    if (!next.is(kSpace)) break;
    last_begin = end;
    end = next.end;
    if (next.kind == kNewline) after_newline = end;
  }
  if (after_newline != 0) return after_newline;
  return end < text.size() && last_begin > at ? last_begin : end;
}

}  // namespace plumbline::tokenizers::hf
