// white_space.h: what counts as white space.
#pragma once

#include <string_view>

#include "plumb/sdk/utf8.h"

namespace plumbline {

/// The property White_Space of Unicode. Source  PropList.txt; the same in every version since 6.3.
constexpr bool is_white_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

/// Is there nothing else in a text? True for an empty one.
constexpr bool is_white_space(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const utf8::Decoded next = utf8::decode(text, at);
    if (!is_white_space(next.code_point)) return false;
    at += next.n_bytes;
  }
  return true;
}

}  // namespace plumbline
