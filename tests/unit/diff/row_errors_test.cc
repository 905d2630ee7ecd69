// Oracle: the definitions, written out plainly here.
#include "core/diff/row_errors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace plumbline::diff {
namespace {

TEST(RowErrors, AreTheSumsOfTheDefinition) {
  // 19 values: no multiple of any vector's width.
  std::vector<float> a, forced, free;
  for (int i = 0; i < 19; ++i) {
    a.push_back(0.5f * static_cast<float>(i - 7));
    forced.push_back(a.back() + (i % 3 == 0 ? 0.25f : 0.0f));
    free.push_back(forced.back() - 0.125f * static_cast<float>(i % 2));
  }
  double of_a = 0, introduced = 0, inherited = 0, total = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    of_a += double{a[i]} * a[i];
    introduced += std::pow(double{forced[i]} - a[i], 2);
    inherited += std::pow(double{free[i]} - forced[i], 2);
    total += std::pow(double{free[i]} - a[i], 2);
  }
  // Every value and square here is exact in binary, so the sums are too, in any order.
  const RowSums sums = compare_row(a, forced, free);
  EXPECT_EQ(sums.a, of_a);
  EXPECT_EQ(sums.introduced, introduced);
  EXPECT_EQ(sums.inherited, inherited);
  EXPECT_EQ(sums.total, total);
  EXPECT_EQ(sums.n_bits_differ, 7u);
  EXPECT_EQ(compare_row(a, forced, {}).total, 0);
}

TEST(RowErrors, BitsAreComparedNotValues) {
  const std::vector<float> plus{0.0f, 1.0f}, minus{-0.0f, 1.0f};
  const RowSums sums = compare_row(plus, minus, {});
  EXPECT_EQ(sums.n_bits_differ, 1u);
  EXPECT_EQ(sums.introduced, 0);
}

TEST(RowErrors, ANanIsSeen) {
  const std::vector<float> a{1.0f, 2.0f}, b{1.0f, std::numeric_limits<float>::quiet_NaN()};
  const RowSums sums = compare_row(a, b, {});
  EXPECT_EQ(sums.n_bits_differ, 1u);
  EXPECT_TRUE(std::isnan(sums.introduced));
}

// Bits that are the same have no error, though inf - inf is no number.
TEST(RowErrors, WhatIsNoNumberOnBothSidesIsEqual) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> a{1.0f, nan, inf}, free{1.0f, nan, -inf};
  const RowSums equal = compare_row(a, a, a);
  EXPECT_EQ(equal.n_bits_differ, 0u);
  EXPECT_EQ(equal.introduced, 0);
  EXPECT_EQ(equal.inherited, 0);
  EXPECT_EQ(equal.total, 0);
  const RowSums sums = compare_row(a, a, free);
  EXPECT_EQ(sums.n_bits_differ, 0u);
  EXPECT_EQ(sums.introduced, 0);
  EXPECT_FALSE(std::isfinite(sums.inherited));
  EXPECT_FALSE(std::isfinite(sums.total));
}

TEST(RowErrors, AnInfinityOnOneSideIsAnInfiniteError) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> a{1.0f, 2.0f}, b{1.0f, inf};
  EXPECT_EQ(compare_row(a, b, {}).introduced, inf);
  EXPECT_EQ(compare_row(b, a, {}).introduced, inf);
}

// Sizes below and at whole vectors; errors whose squares are no floats.
TEST(RowErrors, SmallErrorsOfAnyWidthAreNotLost) {
  for (size_t n = 1; n <= 33; ++n) {
    std::vector<float> a(n, 0.0f), b(n, 0x1p-100f);
    const RowSums sums = compare_row(a, b, {});
    EXPECT_EQ(sums.n_bits_differ, n);
    EXPECT_EQ(sums.introduced, static_cast<double>(n) * 0x1p-200);
  }
}

TEST(RowErrors, TheInheritedErrorIsThereWhereTheForcedRowIsEqual) {
  const std::vector<float> a{1.0f, 2.0f}, free{1.0f, 2.5f};
  const RowSums sums = compare_row(a, a, free);
  EXPECT_EQ(sums.n_bits_differ, 0u);
  EXPECT_EQ(sums.inherited, 0.25);
  EXPECT_EQ(sums.total, 0.25);
}

}  // namespace
}  // namespace plumbline::diff
