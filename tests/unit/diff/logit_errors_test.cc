// Oracle: values worked out by hand.
#include "core/diff/logit_errors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace plumbline::diff {
namespace {

TEST(LogitErrors, EqualRowsHaveNone) {
  const std::vector<float> row{1, 3, -2, 0.5f};
  LogitErrors errors = compare_logits(row, row);
  judge(errors, 0);
  EXPECT_EQ(errors.n_bits_differ, 0u);
  EXPECT_EQ(errors.kl, 0);
  EXPECT_EQ(errors.top_a, 1);
  EXPECT_EQ(errors.top_k_agree, 4u);
  EXPECT_EQ(errors.verdict, Verdict::kMatch);
}

TEST(LogitErrors, AreThoseOfTheDefinitions) {
  // A's spread: mean 0, squares 4+4+0+0, so sigma = sqrt(2).
  const std::vector<float> a{2, -2, 0, 0}, b{2, -2, 0, 0.5f};
  const LogitErrors errors = compare_logits(a, b);
  const double sigma = std::sqrt(2.0);
  EXPECT_EQ(errors.n_bits_differ, 1u);
  EXPECT_DOUBLE_EQ(errors.mean_absolute, 0.125);
  EXPECT_DOUBLE_EQ(errors.mean_absolute_by_sigma, 0.125 / sigma);
  EXPECT_DOUBLE_EQ(errors.largest_absolute, 0.5);
  EXPECT_DOUBLE_EQ(errors.cosine, 8 / std::sqrt(8 * 8.25));
  EXPECT_DOUBLE_EQ(errors.gap_change, 0.5 / sigma);
  EXPECT_DOUBLE_EQ(errors.row_change, 0.5 / sigma);
  const double sum_a = std::exp(2) + std::exp(-2) + 2;
  const double sum_b = std::exp(2) + std::exp(-2) + 1 + std::exp(0.5);
  // All ids but the last change by log(sum_a / sum_b).
  EXPECT_NEAR(errors.kl, std::log(sum_b / sum_a) - 0.5 / sum_a, 1e-12);
  // Ranks of A: 0 2 3 1; of B: 0 3 2 1.
  EXPECT_EQ(errors.top_k_agree, 2u);
}

TEST(LogitErrors, AFlipWithinTheNoiseIsATie) {
  const std::vector<float> a{1.0f, 1.001f, -3}, b{1.002f, 1.001f, -3};
  LogitErrors errors = compare_logits(a, b);
  judge(errors, 0.01);
  EXPECT_EQ(errors.top_a, 1);
  EXPECT_EQ(errors.top_b, 0);
  EXPECT_EQ(errors.verdict, Verdict::kTieFlip);
  judge(errors, 1e-6);
  EXPECT_EQ(errors.verdict, Verdict::kUnexplained);
  judge(errors, 0);
  EXPECT_EQ(errors.verdict, Verdict::kWrong);
  judge(errors, std::nullopt);
  EXPECT_EQ(errors.verdict, Verdict::kUnexplained);
}

TEST(LogitErrors, WhatIsNoNumberIsNeverWithinNoise) {
  const std::vector<float> a{1, 2}, b{1, std::numeric_limits<float>::quiet_NaN()};
  LogitErrors errors = compare_logits(a, b);
  judge(errors, 1e9);
  EXPECT_EQ(errors.verdict, Verdict::kUnexplained);
  EXPECT_TRUE(std::isinf(errors.gap_change));
}

TEST(LogitErrors, WhatIsNoNumberCountsOutsideTheTopAsWell) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), -infinity}) {
    std::vector<float> a(40), b(40);
    for (size_t i = 0; i < a.size(); ++i) a[i] = b[i] = -0.25f * static_cast<float>(i);
    b[30] = value;
    LogitErrors errors = compare_logits(a, b);
    judge(errors, 1e9);
    EXPECT_EQ(errors.verdict, Verdict::kUnexplained);
  }
}

TEST(LogitErrors, WhatChangesBehindTheTopIsJudgedByTheRow) {
  std::vector<float> a(40), b(40);
  for (size_t i = 0; i < a.size(); ++i) a[i] = b[i] = -0.25f * static_cast<float>(i);
  b[30] -= 2;
  LogitErrors errors = compare_logits(a, b);
  EXPECT_EQ(errors.gap_change, 0);
  EXPECT_DOUBLE_EQ(errors.row_change, 2 / sigma_of(a));
  judge(errors, 0.1);
  EXPECT_EQ(errors.verdict, Verdict::kDrift);
  judge(errors, 0.1, 0.1);
  EXPECT_EQ(errors.verdict, Verdict::kUnexplained);
}

TEST(LogitErrors, ARowWithoutSpreadHasNoScaleForAChange) {
  const std::vector<float> a{1, 1}, b{1, 2};
  EXPECT_TRUE(std::isinf(compare_logits(a, b).gap_change));
}

}  // namespace
}  // namespace plumbline::diff
