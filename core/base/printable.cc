#include "core/base/printable.h"

namespace plumbline {
namespace {

/// Bytes of the character at the start of the text if a terminal may obey it, else 0.
size_t obeyed_bytes(std::string_view text) {
  const auto byte = [&](size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u;
  };
  const auto is_in = [](unsigned value, unsigned first, unsigned last) {
    return value >= first && value <= last;
  };
  if (byte(0) < 0x20 || byte(0) == 0x7f) return 1;
  // The second set of control characters, U+0080 to U+009F.
  if (byte(0) == 0xc2 && is_in(byte(1), 0x80, 0x9f)) return 2;
  // What turns the direction of writing: U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to
  // U+2069 (Unicode, Bidi_Control).
  if (byte(0) == 0xd8 && byte(1) == 0x9c) return 2;
  const bool is_mark = byte(0) == 0xe2 && byte(1) == 0x80 &&
                       (is_in(byte(2), 0x8e, 0x8f) || is_in(byte(2), 0xaa, 0xae));
  const bool is_isolate = byte(0) == 0xe2 && byte(1) == 0x81 && is_in(byte(2), 0xa6, 0xa9);
  return is_mark || is_isolate ? 3 : 0;
}

}  // namespace

std::string printable(std::string_view text, std::string_view kept) {
  std::string shown;
  shown.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const size_t n = obeyed_bytes(text.substr(i));
    const bool is_shown = n == 0 || kept.find(text[i]) != std::string_view::npos;
    shown += is_shown ? text[i] : '?';
    i += is_shown ? 1 : n;
  }
  return shown;
}

}  // namespace plumbline
