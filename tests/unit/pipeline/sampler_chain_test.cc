// A chain of stages: which errors it gives, and that one pick does not touch the next.
#include <gmock/gmock.h>

#include <cmath>

#include "tests/unit/pipeline/tiny_world.h"

namespace plumbline::test {
namespace {

using pipeline::SamplerChain;
using testing::HasSubstr;

constexpr uint32_t kVocab = 4;

Result<SamplerChain> chain_of(const std::vector<config::StageConfig>& stages) {
  config::SamplingConfig sampling;
  sampling.stages = stages;
  return pipeline::make_sampler(sampling, host(), kVocab);
}

config::StageConfig stage(const std::string& name, const std::string& params = "{}") {
  return {name, config::kAuto, params};
}

TEST(SamplerChain, PicksAndLeavesTheLogitsAlone) {
  auto chain = chain_of({stage("top_k", R"({"k": 2})"), stage("greedy")});
  ASSERT_TRUE(chain) << chain.error().message;
  EXPECT_EQ(chain->n_stages(), 2u);
  const std::vector<float> logits = {0, 3, 1, 2};
  for (int round = 0; round < 2; ++round) {
    const auto pick = chain->pick(logits, {});
    ASSERT_TRUE(pick) << pick.error().message;
    EXPECT_EQ(pick->id, 1);
    EXPECT_EQ(pick->n_kept, 2u);
    EXPECT_TRUE(std::isnan(pick->coin));  // greedy uses none
  }
  EXPECT_EQ(logits, (std::vector<float>{0, 3, 1, 2}));
}

TEST(SamplerChain, SaysWhichStageIsUnknownAndWhichThereAre) {
  const auto chain = chain_of({stage("topk")});
  ASSERT_FALSE(chain);
  EXPECT_EQ(chain.error().code, PLUMB_NOT_FOUND);
  EXPECT_THAT(chain.error().message, HasSubstr("sampler stage topk; offered are "));
  EXPECT_THAT(chain.error().message, HasSubstr("top_k"));
}

TEST(SamplerChain, SaysWhichStageHasWrongParameters) {
  const auto chain = chain_of({stage("greedy"), stage("top_k", R"({"k": -1})")});
  ASSERT_FALSE(chain);
  EXPECT_EQ(chain.error().code, PLUMB_INVALID_CONFIG);
  EXPECT_THAT(chain.error().message, HasSubstr("sampler stage top_k"));
}

TEST(SamplerChain, NeedsAStageThatPicks) {
  auto chain = chain_of({stage("temperature", R"({"t": 0.5})")});
  ASSERT_TRUE(chain) << chain.error().message;
  const auto pick = chain->pick(std::vector<float>(kVocab, 0), {});
  ASSERT_FALSE(pick);
  EXPECT_EQ(pick.error().code, PLUMB_INVALID_CONFIG);
  EXPECT_THAT(pick.error().message, HasSubstr("end the list with greedy, cdf or gumbel"));
}

TEST(SamplerChain, RefusesLogitsOfAnotherVocabularyAndWithoutADistribution) {
  auto chain = chain_of({stage("greedy")});
  ASSERT_TRUE(chain) << chain.error().message;
  const auto wrong = chain->pick(std::vector<float>(kVocab + 1, 0), {});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message, "expected 4 logits, found 5");
  const auto nan = chain->pick(std::vector<float>(kVocab, std::nanf("")), {});
  ASSERT_FALSE(nan);
  EXPECT_EQ(nan.error().code, PLUMB_NUMERIC);
  EXPECT_THAT(nan.error().message, HasSubstr("sampler stage greedy"));
}

}  // namespace
}  // namespace plumbline::test
