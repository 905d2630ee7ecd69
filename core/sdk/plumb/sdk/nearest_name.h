// nearest_name.h: "did you mean", for every place where a user types a name.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline {
namespace detail {

inline constexpr size_t kNameBytesMax =
    64;  // longer ones are no slip of a finger, and the cost is quadratic

/// Edits between two texts. Source: optimal string alignment, the restricted Damerau-Levenshtein
/// distance.
inline size_t edits(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}
}  // namespace detail

/// The name that needs the fewest edits (insert, delete, replace, swap of neighbours) to become
/// seen; empty if even that one needs more than a third of seen's length. Ties go to the earlier
/// name.
inline std::string_view nearest_name(std::string_view seen,
                                     std::span<const std::string_view> names) {
  if (seen.size() > detail::kNameBytesMax) return {};
  std::string_view best;
  size_t fewest = std::max<size_t>(1, seen.size() / 3) + 1;
  for (const std::string_view name : names) {
    if (name.size() > detail::kNameBytesMax) continue;
    const size_t n = detail::edits(seen, name);
    if (n < fewest) {
      fewest = n;
      best = name;
    }
  }
  return best;
}

/// `; did you mean "NAME"?`, or nothing if no name is near.
inline std::string did_you_mean(std::string_view seen, std::span<const std::string_view> names) {
  const std::string_view name = nearest_name(seen, names);
  return name.empty() ? std::string() : "; did you mean \"" + std::string(name) + "\"?";
}

}  // namespace plumbline
