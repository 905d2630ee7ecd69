// A chain of stages: which errors it gives, and that one pick does not touch the next.
#include <gmock/gmock.h>

#include <algorithm>
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
  EXPECT_THAT(pick.error().message,
              HasSubstr("end the list with greedy, cdf, gumbel, xorshift64 or mirostat_v2"));
}

// Of every stage that does something without parameters.
TEST(SamplerChain, DrawStagesAreThoseThatPick) {
  const auto libraries = host().find_all<plumb_sampler>({.pin = "plumb.samplers.core"});
  ASSERT_EQ(libraries.size(), 1u);
  size_t n_draws = 0;
  for (uint32_t index = 0;; ++index) {
    const std::string name = to_string(libraries[0].table->stage_at(index));
    if (name.empty()) break;
    auto chain = chain_of({stage(name)});
    if (!chain) continue;
    const bool picks = static_cast<bool>(chain->pick(std::vector<float>{0, 1, 2, 3}, {}));
    EXPECT_EQ(picks, std::ranges::find(pipeline::kDrawStages, name) != pipeline::kDrawStages.end())
        << name;
    n_draws += picks ? 1 : 0;
  }
  EXPECT_EQ(n_draws, pipeline::kDrawStages.size());
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

plumb_sample_context at_step(uint64_t step) {
  auto context = make_abi<plumb_sample_context>();
  context.seed = 7;
  context.step = step;
  return context;
}

// A state goes to the stage of its name, and where a name stands twice to the same of the two,
// whatever stands around them.
TEST(SamplerChain, TakesOverWhatBothRemember) {
  const std::vector<float> logits = {0, 1, 2, 3};
  auto a = chain_of({stage("xorshift64"), stage("mirostat_v2"), stage("xorshift64")});
  ASSERT_TRUE(a) << a.error().message;
  for (uint64_t step = 0; step < 5; ++step) ASSERT_TRUE(a->pick(logits, at_step(step)));
  const auto state = a->state();
  ASSERT_TRUE(state);
  ASSERT_EQ(state->size(), 24u);
  const std::string_view all(state->data(), 24);
  ASSERT_NE(all.substr(0, 8), all.substr(16)) << "only the first has drawn";

  auto b = chain_of(
      {stage("greedy"), stage("xorshift64"), stage("top_k", R"({"k": 2})"), stage("xorshift64")});
  ASSERT_TRUE(b) << b.error().message;
  ASSERT_TRUE(b->take_over(*a));
  const auto taken = b->state();
  ASSERT_TRUE(taken);
  EXPECT_EQ(std::string(taken->begin(), taken->end()),
            std::string(all.substr(0, 8)) + std::string(all.substr(16)));

  // From there on it draws as the one that it came from.
  auto c = chain_of({stage("top_k", R"({"k": 4})"), stage("xorshift64")});
  ASSERT_TRUE(c) << c.error().message;
  ASSERT_TRUE(c->take_over(*a));
  for (uint64_t step = 5; step < 10; ++step) {
    const auto from_a = a->pick(logits, at_step(step));
    const auto from_c = c->pick(logits, at_step(step));
    ASSERT_TRUE(from_a && from_c);
    EXPECT_EQ(from_c->coin, from_a->coin);
    EXPECT_EQ(from_c->id, from_a->id);
  }
}

TEST(SamplerChain, KeepsItsOwnStateWhereTheOtherHasNone) {
  auto chain = chain_of({stage("xorshift64")});
  auto other = chain_of({stage("mirostat_v2"), stage("greedy")});
  ASSERT_TRUE(chain && other);
  ASSERT_TRUE(chain->pick(std::vector<float>(kVocab, 0), at_step(0)));
  const auto before = chain->state();
  ASSERT_TRUE(chain->take_over(*other));
  EXPECT_EQ(*chain->state(), *before);
}

TEST(SamplerChain, RefusesTheStateOfOtherStages) {
  auto chain = chain_of({stage("mirostat_v2")});
  ASSERT_TRUE(chain) << chain.error().message;
  const auto short_one = chain->set_state(std::vector<char>(3));
  ASSERT_FALSE(short_one);
  EXPECT_EQ(short_one.error().code, PLUMB_INVALID_ARGUMENT);
  const auto not_a_number = chain->set_state(std::vector<char>(8, '\xff'));
  ASSERT_FALSE(not_a_number);
  EXPECT_EQ(not_a_number.error().code, PLUMB_INVALID_ARGUMENT);
  EXPECT_THAT(not_a_number.error().message, HasSubstr("sampler stage mirostat_v2: a mu of "));
}

TEST(SamplerChain, CountsThePicksThatACapMayHaveDecided) {
  const std::vector<float> logits = {0, 3, 1, 2};
  const auto hits = [&](const std::vector<config::StageConfig>& stages) {
    auto chain = chain_of(stages);
    EXPECT_TRUE(chain) << chain.error().message;
    for (uint64_t step = 0; step < 3; ++step) {
      const auto pick = chain->pick(logits, at_step(step));
      EXPECT_TRUE(pick) << pick.error().message;
      EXPECT_EQ(pick->cap_hit, chain->n_cap_hits() == step + 1);
    }
    return chain->n_cap_hits();
  };
  const auto cap = [](const char* n) { return stage("cap", n); };
  EXPECT_EQ(hits({cap(R"({"n": 2})"), stage("cdf")}), 3u);
  EXPECT_EQ(hits({cap(R"({"n": 4})"), stage("cdf")}), 0u);  // it cut nothing
  EXPECT_EQ(hits({cap(R"({"n": 2})"), stage("top_k", R"({"k": 1})"), stage("cdf")}), 0u);
  EXPECT_EQ(hits({stage("top_k", R"({"k": 2})"), cap(R"({"n": 2})"), stage("cdf")}), 0u);
  EXPECT_EQ(hits({cap(R"({"n": 2})"), stage("greedy")}), 0u);  // the best is always kept
}

TEST(SamplerChain, TellsItsBreakersToTheStages) {
  const std::vector<int32_t> text = {0, 1, 2, 0, 1};
  auto context = at_step(0);
  context.prompt_ids = text.data();
  context.n_prompt_ids = text.size();
  auto chain = chain_of({stage("dry", R"({"multiplier": 5})"), stage("greedy")});
  ASSERT_TRUE(chain) << chain.error().message;
  const std::vector<float> logits = {0, 0, 2, 1};
  EXPECT_EQ(chain->pick(logits, context)->id, 3);  // 2 would repeat 0 1 2
  chain->set_breakers({0});
  EXPECT_EQ(chain->pick(logits, context)->id, 2);
}

}  // namespace
}  // namespace plumbline::test
