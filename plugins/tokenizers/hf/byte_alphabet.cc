#include "byte_alphabet.h"

#include <array>

#include "plumb/sdk/utf8.h"

namespace plumbline::tokenizers::hf {
namespace {

constexpr char32_t kFirstShifted = 0x100;
constexpr uint32_t kNShifted = 68;

constexpr bool stands_for_itself(uint32_t byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) ||
         (byte >= 0xAE && byte <= 0xFF);
}

/// shifted[i]: the byte that U+0100 + i stands for.
constexpr std::array<uint8_t, kNShifted> make_shifted() {
  std::array<uint8_t, kNShifted> shifted{};
  uint32_t n = 0;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    if (!stands_for_itself(byte)) shifted[n++] = static_cast<uint8_t>(byte);
  }
  return shifted;
}
constexpr std::array<uint8_t, kNShifted> kShifted = make_shifted();

/// Every character of the alphabet has one or two bytes.
struct Character {
  char bytes[2];
  uint8_t n;
};
constexpr std::array<Character, 256> make_characters() {
  std::array<Character, 256> characters{};
  const auto encode = [](uint32_t code_point) {
    return code_point < 0x80 ? Character{{static_cast<char>(code_point), 0}, 1}
                             : Character{{static_cast<char>(0xC0 | code_point >> 6),
                                          static_cast<char>(0x80 | (code_point & 0x3F))},
                                         2};
  };
  for (uint32_t byte = 0; byte < 256; ++byte) characters[byte] = encode(byte);
  for (uint32_t i = 0; i < kNShifted; ++i) characters[kShifted[i]] = encode(kFirstShifted + i);
  return characters;
}
constexpr std::array<Character, 256> kCharacters = make_characters();

/// The byte that each character below U+0800 stands for; -1: none. U+0000 stands for none.
constexpr std::array<int16_t, 0x800> make_bytes() {
  std::array<int16_t, 0x800> bytes{};
  for (int16_t& byte : bytes) byte = -1;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const Character& one = kCharacters[byte];
    const uint32_t lead = static_cast<uint8_t>(one.bytes[0]);
    const uint32_t c =
        one.n == 1 ? lead : (lead & 0x1Fu) << 6 | (static_cast<uint8_t>(one.bytes[1]) & 0x3Fu);
    bytes[c] = static_cast<int16_t>(byte);
  }
  return bytes;
}
constexpr std::array<int16_t, 0x800> kBytes = make_bytes();

}  // namespace

std::string_view character_of(uint8_t byte) {
  return {kCharacters[byte].bytes, kCharacters[byte].n};
}

bool append_bytes_of(std::string_view token, std::string& out) {
  const size_t before = out.size();
  out.resize(before + token.size());
  char* bytes = out.data() + before;
  size_t n = 0;
  for (size_t at = 0; at < token.size(); ++at) {
    const uint32_t lead = static_cast<uint8_t>(token[at]);
    uint32_t c = lead;
    if (lead >= 0x80) {
      const bool is_two =
          (lead & 0xE0) == 0xC0 && at + 1 < token.size() && utf8::is_continuation(token[at + 1]);
      c = is_two ? (lead & 0x1Fu) << 6 | (static_cast<uint8_t>(token[++at]) & 0x3Fu) : 0;
    }
    if (kBytes[c] < 0) {
      out.resize(before);
      return false;
    }
    bytes[n++] = static_cast<char>(kBytes[c]);
  }
  out.resize(before + n);
  return true;
}

}  // namespace plumbline::tokenizers::hf
