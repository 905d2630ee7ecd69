// minimise.h: the smallest list that still shows what the long one showed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace plumbline::fuzz {

/// Drops ever smaller pieces of the list for as long as `shows` stays true. Not the smallest of
/// all, but no single element of the result can go. At most `n_tries` questions. Source  Zeller and
/// Hildebrandt, "Simplifying and isolating failure-inducing input", IEEE TSE 28(2), 2002, without
/// the step that tests pieces alone.
template <typename T, typename Shows>
std::vector<T> minimise(std::vector<T> list, Shows&& shows, size_t n_tries = 3000) {
  for (size_t n = std::max<size_t>(list.size() / 2, 1); !list.empty();) {
    bool has_shrunk = false;
    for (size_t at = 0; at < list.size() && n_tries > 0;) {
      std::vector<T> shorter(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(at));
      shorter.insert(shorter.end(),
                     list.begin() + static_cast<std::ptrdiff_t>(std::min(at + n, list.size())),
                     list.end());
      --n_tries;
      if (shows(shorter)) {
        list = std::move(shorter);
        has_shrunk = true;
      } else {
        at += n;
      }
    }
    if (n_tries == 0 || (n == 1 && !has_shrunk)) break;
    if (n > 1) n = (n + 1) / 2;
  }
  return list;
}

}  // namespace plumbline::fuzz
