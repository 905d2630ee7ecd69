// The search for culprits. Oracle: the culprits are chosen first, and the trials answer by them.
#include "core/diff/bisect_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

namespace plumbline::diff {
namespace {

bool contains(const Subset& subset, const Subset& inner) {
  return std::includes(subset.begin(), subset.end(), inner.begin(), inner.end());
}

/// Subsets of 0..n-1 with m items.
std::vector<Subset> combinations(uint32_t n, uint32_t m) {
  std::vector<Subset> all;
  std::vector<char> is_in(n, 0);
  std::fill(is_in.begin(), is_in.begin() + m, 1);
  do {
    Subset one;
    for (uint32_t i = 0; i < n; ++i) {
      if (is_in[i] != 0) one.push_back(i);
    }
    all.push_back(one);
  } while (std::prev_permutation(is_in.begin(), is_in.end()));
  return all;
}

/// The runs that core/doc/comparison.md promises, with those of the two configs themselves.
uint32_t promised_runs(uint32_t k, uint32_t m) {
  return static_cast<uint32_t>(2.0 * m * std::log2(static_cast<double>(k) / m) + 2.0 * m + 2.0);
}

TEST(FindCulprits, FindsEveryOneTwoAndThreeOfTwelveWithinThePromisedRuns) {
  constexpr uint32_t k = 12;
  ASSERT_EQ(promised_runs(k, 1), 11u);
  ASSERT_EQ(promised_runs(k, 2), 16u);
  ASSERT_EQ(promised_runs(k, 3), 20u);
  std::mt19937 random(7);
  for (const uint32_t m : {1u, 2u, 3u}) {
    uint32_t most = 0;
    for (const Subset& wanted : combinations(k, m)) {
      // The same culprits under several orders of the choices.
      Subset order = all_of(k);
      for (int round = 0; round < 5; ++round) {
        Subset culprits;
        for (const uint32_t item : wanted) culprits.push_back(order[item]);
        std::sort(culprits.begin(), culprits.end());
        std::set<Subset> tried;
        Trials trials([&](const Subset& subset) -> Result<Outcome> {
          EXPECT_TRUE(tried.insert(subset).second) << "tried twice";
          return contains(subset, culprits) ? Outcome::kReproduces : Outcome::kDiffers;
        });
        const auto found = find_culprits(k, trials);
        ASSERT_TRUE(found) << found.error().message;
        EXPECT_EQ(found->items, culprits);
        EXPECT_TRUE(found->is_minimal);
        EXPECT_FALSE(found->fell_back);
        EXPECT_EQ(trials.n_runs(), tried.size());
        // A and B themselves were run before.
        most = std::max(most, trials.n_runs() + 2);
        std::shuffle(order.begin(), order.end(), random);
      }
    }
    EXPECT_LE(most, promised_runs(k, m)) << m << " culprits";
  }
}

TEST(FindCulprits, ASingleChoiceIsTheCulpritWithoutARun) {
  Trials trials([](const Subset&) -> Result<Outcome> { return Outcome::kUnresolved; });
  const auto found = find_culprits(1, trials);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->items, Subset{0});
  EXPECT_TRUE(found->is_minimal);
  EXPECT_EQ(trials.n_runs(), 0u);
}

// A choice that undoes another: {2} reproduces, {2,5} does not, all together do, with 8.
TEST(FindCulprits, IsRightWhereASupersetDoesNotReproduce) {
  const auto does = [](const Subset& s) {
    return contains(s, {2}) && (!contains(s, {5}) || contains(s, {8}));
  };
  Trials trials([&](const Subset& subset) -> Result<Outcome> {
    return does(subset) ? Outcome::kReproduces : Outcome::kDiffers;
  });
  const auto found = find_culprits(12, trials);
  ASSERT_TRUE(found);
  EXPECT_TRUE(does(found->items));
  EXPECT_TRUE(found->is_minimal);
}

// Two keys that mean nothing without each other, as a file and its hash.
TEST(FindCulprits, KeepsItemsTogetherThatAreInvalidApart) {
  Trials trials([](const Subset& subset) -> Result<Outcome> {
    if (contains(subset, {4}) != contains(subset, {5})) return Outcome::kUnresolved;
    return contains(subset, {4, 5}) ? Outcome::kReproduces : Outcome::kDiffers;
  });
  const auto found = find_culprits(12, trials);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->items, (Subset{4, 5}));
  EXPECT_TRUE(found->is_minimal);
  EXPECT_GT(trials.n_unresolved(), 0u);
}

// Whatever the trials answer: what is found reproduces, and no item of it can be spared.
TEST(FindCulprits, IsRightForTrialsWithoutAnyOrder) {
  std::mt19937 random(11);
  uint32_t n_fell_back = 0;
  for (int round = 0; round < 2000; ++round) {
    const uint32_t k = 2 + random() % 9;
    std::vector<Outcome> table(size_t{1} << k);
    for (Outcome& one : table) {
      const uint32_t roll = random() % 10;
      one = roll < 3 ? Outcome::kReproduces : roll < 8 ? Outcome::kDiffers : Outcome::kUnresolved;
    }
    table.front() = Outcome::kDiffers;
    table.back() = Outcome::kReproduces;
    const auto outcome_of = [&](const Subset& subset) {
      size_t bits = 0;
      for (const uint32_t item : subset) bits |= size_t{1} << item;
      return table[bits];
    };
    Trials trials([&](const Subset& subset) -> Result<Outcome> { return outcome_of(subset); });
    const auto found = find_culprits(k, trials);
    ASSERT_TRUE(found);
    EXPECT_EQ(outcome_of(found->items), Outcome::kReproduces);
    EXPECT_TRUE(found->is_minimal);
    n_fell_back += found->fell_back ? 1 : 0;
    for (size_t at = 0; at < found->items.size(); ++at) {
      Subset fewer = found->items;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(at));
      EXPECT_NE(outcome_of(fewer), Outcome::kReproduces);
    }
  }
  EXPECT_GT(n_fell_back, 100u);
}

TEST(FindCulprits, EndsWithWhatItHasWhenTheRunsRunOut) {
  const Subset culprits = {1, 6, 10};
  for (uint32_t n_max = 0; n_max < 20; ++n_max) {
    Trials trials(
        [&](const Subset& subset) -> Result<Outcome> {
          return contains(subset, culprits) ? Outcome::kReproduces : Outcome::kDiffers;
        },
        n_max);
    const auto found = find_culprits(12, trials);
    ASSERT_TRUE(found);
    EXPECT_LE(trials.n_runs(), n_max);
    EXPECT_TRUE(contains(found->items, culprits));
    EXPECT_EQ(found->is_minimal, !trials.is_cut_short());
    if (found->is_minimal) {
      EXPECT_EQ(found->items, culprits);
    }
  }
}

TEST(FindCulprits, HandsOnTheErrorOfARun) {
  Trials trials([](const Subset&) -> Result<Outcome> {
    return Error{PLUMB_NOT_FOUND, "the disk is gone"};
  });
  const auto found = find_culprits(12, trials);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message, "the disk is gone");
}

TEST(Ddmin, SparesNoItem) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const uint32_t n = 1 + random() % 60;
    Subset culprits;
    for (uint32_t item = 0; item < n; ++item) {
      if (random() % 8 == 0) culprits.push_back(item);
    }
    Trials trials([&](const Subset& subset) -> Result<Outcome> {
      return contains(subset, culprits) ? Outcome::kReproduces : Outcome::kDiffers;
    });
    const auto found = ddmin(all_of(n), trials);
    ASSERT_TRUE(found);
    // The empty set is never tried: one item is left where none is needed.
    if (culprits.empty()) {
      EXPECT_EQ(found->size(), 1u);
    } else {
      EXPECT_EQ(*found, culprits);
    }
  }
}

TEST(Trials, StopsWhenTold) {
  uint32_t n = 0;
  Trials trials([&](const Subset&) -> Result<Outcome> {
    ++n;
    return Outcome::kReproduces;
  });
  trials.stop_when([&] { return n >= 3; });
  const auto found = ddmin(all_of(64), trials);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->size(), 8u);
  EXPECT_TRUE(trials.is_cut_short());
}

}  // namespace
}  // namespace plumbline::diff
