#include "search.h"

#include <cstdint>
#include <vector>

namespace plumbline::templates::jinja::text {
namespace {

// Up to here the plain search costs at most so many times the text's length, and no table.
constexpr std::size_t kShort = 16;

/// How many bytes of `s` were read when `wanted` had been, or npos. Views are read from either end.
/// Source  Knuth, Morris and Pratt, "Fast pattern matching in strings", SIAM J. Comput. 6(2), 1977.
template <typename Iterator>
std::size_t read_until(Iterator s, std::size_t n_bytes, Iterator wanted, std::size_t n_wanted) {
  // borders[i]: the length of the longest proper prefix of wanted[0, i] that is also its suffix.
  std::vector<std::uint32_t> borders(n_wanted, 0);
  const auto step = [&](std::uint32_t matched, char byte) {
    while (matched > 0 && wanted[matched] != byte) matched = borders[matched - 1];
    return matched + (wanted[matched] == byte ? 1u : 0u);
  };
  for (std::size_t i = 1; i < n_wanted; ++i) borders[i] = step(borders[i - 1], wanted[i]);
  std::uint32_t matched = 0;
  for (std::size_t at = 0; at < n_bytes; ++at) {
    matched = step(matched, s[at]);
    if (matched == n_wanted) return at + 1;
  }
  return std::string_view::npos;
}

}  // namespace

std::size_t find(std::string_view s, std::string_view wanted, std::size_t from) {
  if (wanted.size() <= kShort || from > s.size()) return s.find(wanted, from);
  const std::size_t n_read =
      read_until(s.begin() + from, s.size() - from, wanted.begin(), wanted.size());
  return n_read == std::string_view::npos ? n_read : from + n_read - wanted.size();
}

std::size_t find_last(std::string_view s, std::string_view wanted) {
  if (wanted.size() <= kShort) return s.rfind(wanted);
  const std::size_t n_read = read_until(s.rbegin(), s.size(), wanted.rbegin(), wanted.size());
  return n_read == std::string_view::npos ? n_read : s.size() - n_read;
}

}  // namespace plumbline::templates::jinja::text
