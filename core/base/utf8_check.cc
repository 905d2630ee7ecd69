#include "core/base/utf8_check.h"

#include <cstdint>

namespace plumbline {
namespace {

/// Bytes of the sequence at the front of text; 0 if it is ill-formed or cut off.
size_t sequence_bytes(std::string_view text) {
  const auto at = [text](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = at(0);
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const size_t n = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (text.size() < n) return 0;
  // The second byte's range rules out overlong forms, surrogates and what lies above U+10FFFF.
  const uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (at(1) < low || at(1) > high) return 0;
  for (size_t i = 2; i < n; ++i) {
    if ((at(i) & 0xc0) != 0x80) return 0;
  }
  return n;
}

}  // namespace

size_t first_ill_formed_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const size_t n = sequence_bytes(text.substr(i));
    if (n == 0) return i;
    i += n;
  }
  return std::string_view::npos;
}

}  // namespace plumbline
