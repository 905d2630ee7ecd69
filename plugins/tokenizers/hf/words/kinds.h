// kinds.h: what the patterns tell apart about a character.
#pragma once

#include <array>
#include <cstdint>

namespace plumbline::tokenizers::hf {

/// One bit a kind, so that a pattern's class is a mask. A character that is none of these (control,
/// format, unassigned) has no bit.
enum Kind : uint8_t {
  kUpper = 1,  ///< \p{Lu} \p{Lt}
  kLower = 2,  ///< \p{Ll}
  kCaseless = 4,  ///< \p{Lm} \p{Lo}
  kMark = 8,  ///< \p{M}
  kNumber = 16,  ///< \p{N}
  kBlank = 32,  ///< \s but [\r\n]
  kNewline = 64,  ///< [\r\n]
  kSign = 128,  ///< \p{P} \p{S}
};
constexpr uint8_t kLetter = kUpper | kLower | kCaseless;
constexpr uint8_t kSpace = kBlank | kNewline;

constexpr std::array<uint8_t, 128> make_ascii_kinds() {
  std::array<uint8_t, 128> kinds{};
  for (uint32_t c = 0; c < 128; ++c) {
    kinds[c] = c >= 'a' && c <= 'z'                   ? kLower
               : c >= 'A' && c <= 'Z'                 ? kUpper
               : c >= '0' && c <= '9'                 ? kNumber
               : c == '\r' || c == '\n'               ? kNewline
               : c == ' ' || (c >= '\t' && c <= '\r') ? kBlank
               : c > ' ' && c < 127                   ? kSign
                                                      : 0;
  }
  return kinds;
}
constexpr std::array<uint8_t, 128> kAsciiKinds = make_ascii_kinds();

/// The kind of any character.
uint8_t kind_of(char32_t c);

/// \p{P}
bool is_punctuation(char32_t c);

/// The kinds of U+0000 to U+FFFF.
using BmpKinds = std::array<uint8_t, 0x10000>;
const BmpKinds& bmp_kinds();

}  // namespace plumbline::tokenizers::hf
