#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// Unicode on UTF-8 text that is known to be valid (checked once, where text enters the engine).
namespace plumbline::templates::jinja::text {

/// Byte offset of the first ill-formed sequence, or npos when all of `s` is UTF-8.
std::size_t first_invalid_utf8(std::string_view s);

bool is_ascii(std::string_view s);

constexpr char lower_ascii(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// The part of any bytes that an error can quote: at most `n_bytes`, and UTF-8.
std::string_view beginning(std::string_view s, std::size_t n_bytes);

/// Reads the code point at `at` and moves past it.
char32_t next_point(std::string_view s, std::size_t& at);

/// May a string hold this code point? Surrogates have no UTF-8.
constexpr bool is_scalar(std::int64_t point) {
  return point >= 0 && point <= 0x10FFFF && (point < 0xD800 || point > 0xDFFF);
}

void append_point(std::string& out, char32_t point);

std::size_t count_points(std::string_view s);

/// Byte offset of code point number `n`; the size of `s` when there are fewer.
std::size_t offset_of_point(std::string_view s, std::size_t n);

/// White space as Python's str.isspace sees it.
bool is_space(char32_t point);

/// Printable as Python's str.isprintable sees it: decides what repr() escapes.
bool is_printable(char32_t point);

bool is_identifier_start(char32_t point);
bool is_identifier_part(char32_t point);

bool is_alpha(char32_t point);
bool is_decimal(char32_t point);
bool is_digit(char32_t point);
bool is_numeric(char32_t point);
bool is_upper(char32_t point);
bool is_lower(char32_t point);
bool is_title(char32_t point);

std::size_t skip_space(std::string_view s, std::size_t at);
std::string_view strip_left(std::string_view s);
std::string_view strip_right(std::string_view s);
std::string_view strip_left(std::string_view s, std::string_view points);
std::string_view strip_right(std::string_view s, std::string_view points);

/// Case mappings of whole strings by the rules of Python's str methods (full mappings, final
/// sigma).
std::string upper(std::string_view s);
std::string lower(std::string_view s);
std::string casefold(std::string_view s);
std::string title(std::string_view s);
std::string capitalize(std::string_view s);
std::string swap_case(std::string_view s);

}  // namespace plumbline::templates::jinja::text
