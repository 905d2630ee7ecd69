// What the protocol holds the turns of a conversation to. Oracle: core/doc/protocol.md, and errors
// that were put in on purpose.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/golden/checks.h"
#include "core/protocol/stages.h"

namespace plumbline::protocol {
namespace {

using diff::Verdict;

const std::vector<float> kRows = {3, 4, 0, 1, 6, 8};

TEST(Turns, ACacheIsHeldToTheNoise) {
  const CacheErrors equal = compare_cache(kRows, kRows, 2);
  EXPECT_EQ(equal.n_differ, 0u);
  EXPECT_EQ(golden::judged(true, equal.worst_row, 1e-4, false), Verdict::kMatch);
  std::vector<float> kept = kRows;
  kept[4] = 6.0001f;  // 1e-4 of a row of size 10
  const CacheErrors near = compare_cache(kept, kRows, 2);
  EXPECT_EQ(near.n_differ, 1u);
  EXPECT_NEAR(near.worst_row, 1e-5, 1e-7);
  EXPECT_EQ(golden::judged(false, near.worst_row, 1e-4, false), Verdict::kDrift);
  kept[1] = 0;  // 4 of 5
  const CacheErrors far = compare_cache(kept, kRows, 2);
  EXPECT_NEAR(far.worst_row, 0.8, 1e-6);
  EXPECT_EQ(golden::judged(false, far.worst_row, 1e-4, false), Verdict::kUnexplained);
  EXPECT_EQ(golden::judged(false, far.worst_row, 0.0, false), Verdict::kWrong);
}

TEST(Turns, WhatIsNoNumberOrHasNoPartnerIsBeyondAll) {
  std::vector<float> kept = kRows;
  kept[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isinf(compare_cache(kept, kRows, 2).worst_row));
  EXPECT_TRUE(std::isinf(compare_cache({}, kRows, 2).worst_row));
  EXPECT_EQ(compare_cache({}, kRows, 2).n_differ, kRows.size());
}

TEST(Turns, PicksThatPartNeedACause) {
  EXPECT_EQ(verdict_of_parting(Verdict::kMatch), Verdict::kWrong);
  EXPECT_EQ(verdict_of_parting(Verdict::kDrift), Verdict::kTieFlip);
  EXPECT_EQ(verdict_of_parting(Verdict::kUnexplained), Verdict::kUnexplained);
  EXPECT_EQ(verdict_of_parting(Verdict::kWrong), Verdict::kWrong);
}

}  // namespace
}  // namespace plumbline::protocol
