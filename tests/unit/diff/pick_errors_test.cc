// Oracle: the probabilities of picks by their definitions, and counted over coins of the project's
// own Philox, with an error of sampling.
#include "core/diff/pick_errors.h"

#include <gtest/gtest.h>

#include <cmath>

#include "plumb/sdk/philox.h"

namespace plumbline::diff {
namespace {

const Distribution kA{{1, 4, 7, 9}, {0.5, 0.25, 0.125, 0.125}};
const Distribution kB{{1, 4, 8}, {0.25, 0.25, 0.5}};

// Of n coins, a share of p counts right to within five standard deviations.
double sampling_error(double p, int n) {
  return 5 * std::sqrt(p * (1 - p) / n);
}

int32_t pick_cdf(const Distribution& of, double coin) {
  double below = 0;
  for (size_t i = 0; i < of.ids.size(); ++i) {
    below += of.probabilities[i];
    if (coin < below) return of.ids[i];
  }
  return of.ids.back();
}

int32_t pick_gumbel(const Distribution& of, uint64_t seed, uint64_t step) {
  int32_t best = -1;
  double largest = -INFINITY;
  for (size_t i = 0; i < of.ids.size(); ++i) {
    const double coin = coin_gumbel(seed, step, static_cast<uint32_t>(of.ids[i]));
    const double score = std::log(of.probabilities[i]) - std::log(-std::log(coin));
    if (score > largest) {
      largest = score;
      best = of.ids[i];
    }
  }
  return best;
}

TEST(PickErrors, TotalVariationIsHalfTheSumOfTheDifferences) {
  EXPECT_DOUBLE_EQ(total_variation(kA, kB), 0.5);
  EXPECT_EQ(total_variation(kA, kA), 0);
}

TEST(PickErrors, CdfFlipsWhereTheIntervalsDoNotOverlap) {
  // A: 1 to .5, 4 to .75, 7 to .875, 9 to 1. B: 1 to .25, 4 to .5, 8 to 1. Common: [0,.25) alone.
  EXPECT_DOUBLE_EQ(flip_probability_cdf(kA, kB), 0.75);
  EXPECT_EQ(flip_probability_cdf(kA, kA), 0);
  const int n = 20000;
  int n_flips = 0;
  for (int step = 0; step < n; ++step) {
    const double coin = coin_cdf(7, static_cast<uint64_t>(step));
    n_flips += pick_cdf(kA, coin) != pick_cdf(kB, coin) ? 1 : 0;
  }
  EXPECT_NEAR(n_flips / double{n}, 0.75, sampling_error(0.75, n));
}

TEST(PickErrors, GumbelFlipsAsItsCoinsDo) {
  const double expected = flip_probability_gumbel(kA, kB);
  const int n = 20000;
  int n_flips = 0;
  for (int step = 0; step < n; ++step) {
    n_flips += pick_gumbel(kA, 11, static_cast<uint64_t>(step)) !=
                       pick_gumbel(kB, 11, static_cast<uint64_t>(step))
                   ? 1
                   : 0;
  }
  EXPECT_NEAR(n_flips / double{n}, expected, sampling_error(expected, n));
}

TEST(PickErrors, GumbelIsTheSumOverTheIdsThatBothHave) {
  // P(both pick i) = 1 / sum over j of max(p_j/p_i, q_j/q_i), term by term.
  const double one =
      1 / (1 + std::max(0.25 / 0.5, 0.25 / 0.25) + 0.125 / 0.5 + 0.125 / 0.5 + 0.5 / 0.25);
  const double four =
      1 / (std::max(0.5 / 0.25, 0.25 / 0.25) + 1 + 0.125 / 0.25 + 0.125 / 0.25 + 0.5 / 0.25);
  EXPECT_NEAR(flip_probability_gumbel(kA, kB), 1 - one - four, 1e-15);
  EXPECT_NEAR(flip_probability_gumbel(kA, kA), 0, 1e-15);
}

TEST(PickErrors, DisjointSetsAlwaysFlip) {
  const Distribution one{{1}, {1.0}}, two{{2}, {1.0}};
  EXPECT_EQ(flip_probability_cdf(one, two), 1);
  EXPECT_EQ(flip_probability_gumbel(one, two), 1);
  EXPECT_EQ(flip_probability_independent(one, two), 1);
}

TEST(PickErrors, DrawsWithCoinsOfTheirOwnAgreeByChance) {
  EXPECT_DOUBLE_EQ(flip_probability_independent(kA, kB), 1 - (0.5 * 0.25 + 0.25 * 0.25));
}

}  // namespace
}  // namespace plumbline::diff
