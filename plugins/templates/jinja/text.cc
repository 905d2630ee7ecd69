#include "text.h"

#include <utf8proc.h>

#include <array>
#include <cstring>

namespace plumbline::templates::jinja::text {
namespace {

utf8proc_category_t category(char32_t point) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(point));
}

bool is_letter(utf8proc_category_t c) {
  return c == UTF8PROC_CATEGORY_LU || c == UTF8PROC_CATEGORY_LL || c == UTF8PROC_CATEGORY_LT ||
         c == UTF8PROC_CATEGORY_LM || c == UTF8PROC_CATEGORY_LO;
}

std::size_t last_point_at(std::string_view s) {
  std::size_t at = s.size() - 1;
  while (at > 0 && (static_cast<unsigned char>(s[at]) & 0xC0) == 0x80) --at;
  return at;
}

bool contains_point(std::string_view points, char32_t wanted) {
  for (std::size_t at = 0; at < points.size();) {
    if (next_point(points, at) == wanted) return true;
  }
  return false;
}

template <typename Drop>
std::string_view strip_left_if(std::string_view s, Drop drop) {
  std::size_t at = 0;
  while (at < s.size()) {
    std::size_t after = at;
    if (!drop(next_point(s, after))) break;
    at = after;
  }
  return s.substr(at);
}

template <typename Drop>
std::string_view strip_right_if(std::string_view s, Drop drop) {
  while (!s.empty()) {
    const std::size_t last_at = last_point_at(s);
    std::size_t at = last_at;
    if (!drop(next_point(s, at))) break;
    s = s.substr(0, last_at);
  }
  return s;
}

}  // namespace

std::size_t first_invalid_utf8(std::string_view s) {
  std::size_t at = 0;
  while (at < s.size()) {
    if (static_cast<unsigned char>(s[at]) < 0x80) {
      ++at;
      continue;
    }
    utf8proc_int32_t point = 0;
    const auto n_read = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(s.data()) + at,
                                         static_cast<utf8proc_ssize_t>(s.size() - at), &point);
    if (n_read <= 0) return at;
    at += static_cast<std::size_t>(n_read);
  }
  return std::string_view::npos;
}

std::string_view beginning(std::string_view s, std::size_t n_bytes) {
  s = s.substr(0, n_bytes);
  return s.substr(0, first_invalid_utf8(s));
}

bool is_ascii(std::string_view s) {
  std::size_t at = 0;
  for (; at + 8 <= s.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, s.data() + at, 8);
    if ((word & 0x8080808080808080U) != 0) return false;
  }
  for (; at < s.size(); ++at) {
    if (static_cast<unsigned char>(s[at]) >= 0x80) return false;
  }
  return true;
}

char32_t next_point(std::string_view s, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char lead = byte(at);
  if (lead < 0x80) return s[at++];
  const std::size_t n = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  char32_t point = lead & (0xFF >> (n + 1));
  for (std::size_t i = 1; i < n; ++i) point = point << 6 | (byte(at + i) & 0x3F);
  at += n;
  return point;
}

void append_point(std::string& out, char32_t point) {
  std::array<utf8proc_uint8_t, 4> buffer{};
  const auto n = utf8proc_encode_char(static_cast<utf8proc_int32_t>(point), buffer.data());
  out.append(reinterpret_cast<const char*>(buffer.data()), static_cast<std::size_t>(n));
}

std::size_t count_points(std::string_view s) {
  std::size_t n = 0;
  for (const char c : s) n += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return n;
}

std::size_t offset_of_point(std::string_view s, std::size_t n) {
  std::size_t at = 0;
  for (; n > 0 && at < s.size(); --n) next_point(s, at);
  return at;
}

bool is_space(char32_t point) {
  return (point >= 0x09 && point <= 0x0D) || (point >= 0x1C && point <= 0x20) || point == 0x85 ||
         point == 0xA0 || point == 0x1680 || (point >= 0x2000 && point <= 0x200A) ||
         point == 0x2028 || point == 0x2029 || point == 0x202F || point == 0x205F ||
         point == 0x3000;
}

bool is_printable(char32_t point) {
  if (point < 0x7F) return point >= 0x20;
  switch (category(point)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS:
      return false;
    default:
      return true;
  }
}

bool is_identifier_start(char32_t point) {
  if (point < 0x80) {
    return point == '_' || (point >= 'a' && point <= 'z') || (point >= 'A' && point <= 'Z');
  }
  return is_letter(category(point)) || category(point) == UTF8PROC_CATEGORY_NL;
}

bool is_identifier_part(char32_t point) {
  if (is_identifier_start(point) || (point >= '0' && point <= '9')) return true;
  if (point < 0x80) return false;
  const auto c = category(point);
  return c == UTF8PROC_CATEGORY_MN || c == UTF8PROC_CATEGORY_MC || c == UTF8PROC_CATEGORY_ND ||
         c == UTF8PROC_CATEGORY_PC;
}

bool is_alpha(char32_t point) {
  return is_letter(category(point));
}

bool is_decimal(char32_t point) {
  return category(point) == UTF8PROC_CATEGORY_ND;
}

bool is_digit(char32_t point) {
  // Besides decimals, Python counts the super- and subscripts and circled digits of these blocks.
  return is_decimal(point) || point == 0xB2 || point == 0xB3 || point == 0xB9 || point == 0x2070 ||
         (point >= 0x2074 && point <= 0x2079) || (point >= 0x2080 && point <= 0x2089) ||
         (point >= 0x2460 && point <= 0x2468) || (point >= 0x2776 && point <= 0x277E);
}

bool is_numeric(char32_t point) {
  const auto c = category(point);
  return c == UTF8PROC_CATEGORY_ND || c == UTF8PROC_CATEGORY_NL || c == UTF8PROC_CATEGORY_NO;
}

bool is_upper(char32_t point) {
  return category(point) == UTF8PROC_CATEGORY_LU;
}
bool is_lower(char32_t point) {
  return category(point) == UTF8PROC_CATEGORY_LL || point == 0xAA || point == 0xBA;
}
bool is_title(char32_t point) {
  return category(point) == UTF8PROC_CATEGORY_LT;
}

std::size_t skip_space(std::string_view s, std::size_t at) {
  while (at < s.size()) {
    std::size_t after = at;
    if (!is_space(next_point(s, after))) break;
    at = after;
  }
  return at;
}

std::string_view strip_left(std::string_view s) {
  return strip_left_if(s, is_space);
}
std::string_view strip_right(std::string_view s) {
  return strip_right_if(s, is_space);
}

std::string_view strip_left(std::string_view s, std::string_view points) {
  return strip_left_if(s, [&](char32_t p) { return contains_point(points, p); });
}
std::string_view strip_right(std::string_view s, std::string_view points) {
  return strip_right_if(s, [&](char32_t p) { return contains_point(points, p); });
}

}  // namespace plumbline::templates::jinja::text
