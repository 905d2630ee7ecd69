#include "core/diff/bisect_search.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace plumbline::diff {
namespace {

Subset united(const Subset& a, std::span<const uint32_t> b) {
  Subset both(a);
  both.insert(both.end(), b.begin(), b.end());
  std::sort(both.begin(), both.end());
  return both;
}

Subset without(const Subset& subset, size_t first, size_t end) {
  Subset rest(subset.begin(), subset.begin() + static_cast<std::ptrdiff_t>(first));
  rest.insert(rest.end(), subset.begin() + static_cast<std::ptrdiff_t>(end), subset.end());
  return rest;
}

/// Of the whole numbers between low and high, both left out, the one nearest to the middle that is
/// still open.
std::optional<size_t> next_cut(size_t low, size_t high, const std::vector<char>& is_closed) {
  std::optional<size_t> nearest;
  size_t least = SIZE_MAX;
  for (size_t cut = low + 1; cut < high; ++cut) {
    const size_t twice = 2 * cut, middle = low + high;
    const size_t distance = twice > middle ? twice - middle : middle - twice;
    if (is_closed[cut] == 0 && distance < least) {
      least = distance;
      nearest = cut;
    }
  }
  return nearest;
}

/// Moves the last items of the shortest prefix of rest that still reproduces to found, and drops
/// what lies behind: one item, or several where no mixture could tell them apart.
Result<void> find_next(Subset& found, Subset& rest, Trials& trials, bool& is_exact) {
  size_t low = 0, high = rest.size();
  std::vector<char> is_closed(high + 1, 0);
  while (const auto cut = next_cut(low, high, is_closed)) {
    PLUMB_ASSIGN(const Outcome outcome, trials(united(found, std::span(rest).first(*cut))));
    if (outcome == Outcome::kReproduces) high = *cut;
    if (outcome == Outcome::kDiffers) low = *cut;
    if (outcome == Outcome::kUnresolved) is_closed[*cut] = 1;
  }
  is_exact &= high - low == 1;
  found = united(found, std::span(rest).subspan(low, high - low));
  rest.resize(low);
  return {};
}

Result<bool> none_can_be_spared(const Subset& subset, Trials& trials) {
  for (size_t at = 0; at < subset.size(); ++at) {
    PLUMB_ASSIGN(const Outcome outcome, trials(without(subset, at, at + 1)));
    if (outcome == Outcome::kReproduces) return false;
  }
  return true;
}

}  // namespace

const char* outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kReproduces:
      return "reproduces";
    case Outcome::kDiffers:
      return "differs";
    default:
      return "unresolved";
  }
}

Subset all_of(uint32_t n) {
  Subset all(n);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

Result<Outcome> Trials::operator()(const Subset& subset) {
  const auto known = known_.find(subset);
  if (known != known_.end()) return known->second;
  if (n_runs_ >= n_runs_max_ || (stop_ != nullptr && stop_())) {
    is_cut_short_ = true;
    return Outcome::kUnresolved;
  }
  ++n_runs_;
  PLUMB_ASSIGN(const Outcome outcome, run_(subset));
  if (outcome == Outcome::kUnresolved) ++n_unresolved_;
  known_[subset] = outcome;
  return outcome;
}

Result<Culprits> find_culprits(uint32_t n, Trials& trials) {
  trials.know({}, Outcome::kDiffers);
  trials.know(all_of(n), Outcome::kReproduces);
  Culprits culprits;
  Subset& found = culprits.items;
  Subset rest = all_of(n);
  bool is_exact = true;
  // Always: found and rest together reproduce.
  while (!rest.empty()) {
    PLUMB_ASSIGN(const Outcome alone, trials(found));
    if (alone == Outcome::kReproduces) break;
    PLUMB_TRY(find_next(found, rest, trials, is_exact));
  }
  PLUMB_ASSIGN(culprits.is_minimal, none_can_be_spared(found, trials));
  if (!culprits.is_minimal || !is_exact) {
    culprits.fell_back = true;
    PLUMB_ASSIGN(found, ddmin(std::move(found), trials));
    PLUMB_ASSIGN(culprits.is_minimal, none_can_be_spared(found, trials));
  }
  culprits.is_minimal &= !trials.is_cut_short();
  return culprits;
}

Result<Subset> ddmin(Subset reproducing, Trials& trials) {
  size_t n_pieces = 2;
  while (reproducing.size() >= 2) {
    const size_t size = reproducing.size();
    n_pieces = std::min(n_pieces, size);
    std::optional<Subset> smaller;
    size_t next_pieces = 2;
    // Each piece alone; then, from three pieces on, all the others.
    for (const bool keeps_others : {false, true}) {
      if (keeps_others && n_pieces == 2) continue;
      for (size_t piece = 0; piece < n_pieces && !smaller; ++piece) {
        const size_t first = piece * size / n_pieces, end = (piece + 1) * size / n_pieces;
        Subset tried = keeps_others
                           ? without(reproducing, first, end)
                           : Subset(reproducing.begin() + static_cast<std::ptrdiff_t>(first),
                                    reproducing.begin() + static_cast<std::ptrdiff_t>(end));
        PLUMB_ASSIGN(const Outcome outcome, trials(tried));
        if (outcome != Outcome::kReproduces) continue;
        smaller = std::move(tried);
        if (keeps_others) next_pieces = std::max<size_t>(n_pieces - 1, 2);
      }
    }
    if (smaller) {
      reproducing = *std::move(smaller);
      n_pieces = next_pieces;
    } else if (n_pieces == size) {
      break;
    } else {
      n_pieces = std::min(2 * n_pieces, size);
    }
  }
  return reproducing;
}

}  // namespace plumbline::diff
