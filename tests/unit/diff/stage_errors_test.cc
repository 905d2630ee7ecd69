// Lists of stages side by side. Oracle: what each list has left, by hand.
#include "core/diff/stage_errors.h"

#include <gmock/gmock.h>

#include "plumb/sdk/abi.h"

namespace plumbline::diff {
namespace {

using testing::ElementsAre;

/// Stages that do nothing: the pairing reads their names and parameters.
plumb_status create(const plumb_host*, plumb_str, plumb_str, uint32_t, void**, plumb_error*) {
  return PLUMB_OK;
}
void destroy(void*) {}
uint64_t no_bytes(void*) {
  return 0;
}
const plumb_sampler kTable = [] {
  auto table = make_abi<plumb_sampler>();
  table.create = create;
  table.destroy = destroy;
  table.scratch_bytes = no_bytes;
  return table;
}();

pipeline::SamplerChain chain(const std::vector<std::pair<std::string, std::string>>& stages) {
  pipeline::SamplerChain made(4);
  for (const auto& [name, params] : stages) EXPECT_TRUE(made.add(kTable, nullptr, name, params));
  return made;
}

std::vector<std::pair<int32_t, int32_t>> pairs(const pipeline::SamplerChain& a,
                                               const pipeline::SamplerChain& b) {
  std::vector<std::pair<int32_t, int32_t>> found;
  for (const StagePair pair : paired_stages(a, b)) found.emplace_back(pair.a, pair.b);
  return found;
}

TEST(StageErrors, StagesOfOneNameArePairs) {
  const auto a = chain({{"top_k", "{}"}, {"temperature", "{}"}, {"cdf", "{}"}});
  EXPECT_THAT(pairs(a, a), ElementsAre(std::pair(0, 0), std::pair(1, 1), std::pair(2, 2)));
  const auto more = chain({{"cap", "{}"}, {"top_k", "{}"}, {"temperature", "{}"}, {"cdf", "{}"}});
  EXPECT_THAT(pairs(a, more),
              ElementsAre(std::pair(-1, 0), std::pair(0, 1), std::pair(1, 2), std::pair(2, 3)));
}

TEST(StageErrors, TheSameParametersComeBeforeOthers) {
  const auto a = chain({{"top_k", "2"}, {"cdf", "{}"}});
  const auto b = chain({{"top_k", "1"}, {"top_k", "2"}, {"cdf", "{}"}});
  EXPECT_THAT(pairs(a, b), ElementsAre(std::pair(-1, 0), std::pair(0, 1), std::pair(1, 2)));
}

TEST(StageErrors, WhatIsLeftIsComparedBehindEachPair) {
  const auto a = chain({{"top_k", "3"}, {"cdf", "{}"}});
  const auto b = chain({{"top_p", "{}"}, {"top_k", "3"}, {"cdf", "{}"}});
  const Left row{{0, 1, 2, 3}, {1, 2, 3, 4}};
  const Left three{{1, 2, 3}, {2, 3, 4}}, two{{2, 3}, {3, 4}}, other{{2, 3}, {3, 5}};
  const auto found = compare_stages(a, {row, three, three}, b, {row, two, two, other});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].a, "");
  EXPECT_EQ(found[0].b, "top_p");
  EXPECT_EQ(found[0].n_kept_a, 4u) << "A has done nothing yet";
  EXPECT_EQ(found[0].n_kept_b, 2u);
  EXPECT_THAT(found[0].only_a, ElementsAre(0, 1));
  EXPECT_EQ(found[1].a, "top_k 3");
  EXPECT_EQ(found[1].n_only_a, 1u);
  EXPECT_EQ(found[1].n_only_b, 0u);
  EXPECT_TRUE(found[2].differs);
}

TEST(StageErrors, OneThatFailedEndsTheList) {
  const auto a = chain({{"top_k", "3"}, {"cdf", "{}"}});
  const Left row{{0, 1}, {1, 2}};
  EXPECT_EQ(compare_stages(a, {row, row, row}, a, {row, row}).size(), 1u);
}

TEST(StageErrors, BitsOfLogitsCount) {
  const Left plus{{0}, {0.0f}}, minus{{0}, {-0.0f}};
  EXPECT_FALSE(plus == minus);
  EXPECT_TRUE(plus == plus);
}

}  // namespace
}  // namespace plumbline::diff
