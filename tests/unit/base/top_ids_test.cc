#include "core/base/top_ids.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace plumbline {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Oracle: the order that core/doc/samplers.md gives candidates, worked out by hand.
TEST(TopIds, FallByLogitAndTiesRiseById) {
  const std::vector<float> logits = {1, 3, 2, 3, -kInfinity};
  EXPECT_EQ(top_ids(logits, 3), (std::vector<int32_t>{1, 3, 2}));
  EXPECT_EQ(top_ids(logits, 9), (std::vector<int32_t>{1, 3, 2, 0, 4}));
  EXPECT_TRUE(top_ids(logits, 0).empty());
  EXPECT_TRUE(top_ids({}, 3).empty());
}

TEST(TopIds, WhatIsNoNumberComesLast) {
  const std::vector<float> logits = {kNan, -kInfinity, kNan, 0, kInfinity};
  EXPECT_EQ(top_ids(logits, 5), (std::vector<int32_t>{4, 3, 1, 0, 2}));
  EXPECT_FALSE(comes_before(logits, 0, 0));
}

}  // namespace
}  // namespace plumbline
