// Penalties and what they count.
// Oracle: golden/cases/samplers.jsonl, naive versions of each rule, and llama.cpp's own text of the
// DRY rule written out without its Z function.
#include <gmock/gmock.h>

#include <cfloat>
#include <map>
#include <random>

#include "tests/support/golden_cases.h"
#include "tests/unit/samplers/stages_in_a_row.h"

namespace plumbline::test {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

std::vector<float> normal_logits(size_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0, 4);
  std::vector<float> logits(n);
  for (float& logit : logits) logit = normal(random);
  return logits;
}

TEST(SamplerPenalties, GoldenCases) {
  int n = 0;
  for (const json& one : read_jsonl(golden_path("cases/samplers.jsonl"))) {
    if (one["input"]["op"] != "penalties") continue;
    SCOPED_TRACE(one["id"]);
    ++n;
    ASSERT_EQ(one["params"]["semantics"], "vllm");
    const json& value = one["input"]["value"];
    const json& params = one["params"];
    const Row row =
        run({{"repetition", json{{"theta", params["repetition"]}, {"rule", "ctrl_sign"}}.dump()},
             {"frequency", json{{"strength", params["frequency"]}}.dump()},
             {"presence", json{{"strength", params["presence"]}}.dump()}},
            value["logits"].get<std::vector<float>>(),
            {.prompt = value["prompt"], .generated = value["output"]});
    const auto expected = one["expected"]["logits"].get<std::vector<float>>();
    ASSERT_EQ(row.logits().size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(row.logits()[i], expected[i], 1e-7);  // each stage rounds to f32
  }
  EXPECT_EQ(n, 2);
}

// Each counting rule on the same history: prompt 1 1 2, answer 2 3, control token 3.
TEST(SamplerPenalties, CountWhatTheRuleSays) {
  const Facts facts{.prompt = {1, 1, 2}, .generated = {2, 3}, .control = {3}};
  const auto counts = [&](const json& rule) {
    json params = rule;
    params["strength"] = 1;
    std::vector<float> seen;
    for (const float logit : run({{"frequency", params.dump()}}, {0, 0, 0, 0}, facts).logits())
      seen.push_back(-logit);
    return seen;
  };
  EXPECT_THAT(counts({{"count", "generated"}}), ElementsAre(0, 0, 1, 0));
  EXPECT_THAT(counts(json::object()), ElementsAre(0, 0, 1, 0));
  EXPECT_THAT(counts({{"count", "all"}}), ElementsAre(0, 2, 2, 0));
  EXPECT_THAT(counts({{"count", "all"}, {"last", 4}}), ElementsAre(0, 1, 2, 0));
  EXPECT_THAT(counts({{"count", "all"}, {"last", 3}}), ElementsAre(0, 0, 2, 0));
  EXPECT_THAT(counts({{"count", "all"}, {"last", 2}}), ElementsAre(0, 0, 1, 0));
  EXPECT_THAT(counts({{"count", "all"}, {"last", 1}}), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(counts({{"count", "generated"}, {"last", 1}}), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(counts({{"count", "generated"}, {"control_tokens", "penalise"}}),
              ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(counts({{"count", "all"}, {"last", uint64_t{UINT64_MAX}}}), ElementsAre(0, 2, 2, 0));
}

TEST(SamplerPenalties, IgnoreIdsOutsideTheVocabulary) {
  const Facts facts{.prompt = {-1, INT32_MIN, 4, INT32_MAX}, .generated = {2, -5, 99}};
  for (const StageSpec& stage : {StageSpec{"frequency", R"({"strength": 1, "count": "all"})"},
                                 {"repetition", R"({"theta": 1.3})"},
                                 {"dry", R"({"multiplier": 1, "allowed_length": 1})"}}) {
    const Row row = run({stage}, {0, 0, 0, 0}, facts);
    EXPECT_EQ(row.kept().size(), 4u);
  }
}

TEST(SamplerPenalties, PresenceIsFlatAndFrequencyCounts) {
  const Facts facts{.generated = {0, 0, 0, 2}};
  EXPECT_THAT(run({{"presence", R"({"strength": 0.5})"}}, {1, 1, 1}, facts).logits(),
              ElementsAre(0.5f, 1, 0.5f));
  EXPECT_THAT(run({{"frequency", R"({"strength": 0.5})"}}, {1, 1, 1}, facts).logits(),
              ElementsAre(-0.5f, 1, 0.5f));
  EXPECT_THAT(run({{"frequency", R"({"strength": -0.5})"}}, {1, 1, 1}, facts).logits(),
              ElementsAre(2.5f, 1, 1.5f));
}

TEST(SamplerPenalties, NeverEmptyARow) {
  const Facts facts{.generated = {0, 0, 1}};
  const std::vector<float> row = {1e38f, -1e38f, -INFINITY};
  for (const StageSpec& stage : {StageSpec{"frequency", R"({"strength": 3e38})"},
                                 {"frequency", R"({"strength": -3e38})"},
                                 {"presence", R"({"strength": 3e38})"},
                                 {"repetition", R"({"theta": 3e38, "rule": "ctrl_sign"})"},
                                 {"repetition", R"({"theta": 1e-300, "rule": "ctrl_sign"})"},
                                 {"repetition", R"({"theta": 3e38})"}}) {
    const Row left = run({stage, {"greedy"}}, row, facts);
    for (const float logit : {left.logits()[0]}) EXPECT_TRUE(std::isfinite(logit)) << stage.params;
    EXPECT_EQ(left.logits()[2], -INFINITY) << stage.params;
  }
}

TEST(SamplerPenalties, RepetitionByItsRules) {
  const Facts facts{.prompt = {0, 1}, .generated = {1, 3}, .control = {3}};
  EXPECT_THAT(
      run({{"repetition", R"({"theta": 2, "rule": "ctrl_sign"})"}}, {4, -4, 4, 4}, facts).logits(),
      ElementsAre(2, -8, 4, 4));
  EXPECT_THAT(run({{"repetition", R"({"theta": 1})"}}, {4, -4, 4, 4}, facts).logits(),
              ElementsAre(4, -4, 4, 4));

  const auto logits = normal_logits(300, 1);
  std::vector<int32_t> seen;
  for (int32_t id = 0; id < 300; id += 7) seen.push_back(id);
  long double total = 0;
  for (const float logit : logits) total += std::exp(static_cast<long double>(logit));
  const Row row = run({{"repetition", R"({"theta": 1.3})"}}, logits, {.prompt = seen});
  for (size_t id = 0; id < logits.size(); ++id) {
    const long double ln_p = logits[id] - std::log(total);
    EXPECT_EQ(row.logits()[id],
              static_cast<float>(static_cast<double>(id % 7 == 0 ? 1.3L * ln_p : ln_p)))
        << id;
  }
}

// A constant that is added exactly changes no bit of what ctrl_normalised leaves, and many picks of
// ctrl_sign.
TEST(SamplerPenalties, OnlyTheSignRuleSeesAConstant) {
  const char* stages[] = {R"({"theta": 1.3})", R"({"theta": 1.3, "rule": "ctrl_sign"})"};
  int n_changed[2] = {};
  for (uint64_t round = 0; round < 200; ++round) {
    auto logits = normal_logits(400, 100 + round);
    for (float& logit : logits) logit = std::round(logit * 4096) / 4096;
    auto shifted = logits;
    for (float& logit : shifted) logit += round % 2 == 0 ? 5.0f : -5.0f;
    std::vector<int32_t> seen;
    for (int32_t id = 0; id < 400; id += 2) seen.push_back(id);
    for (size_t rule = 0; rule < 2; ++rule) {
      const std::vector<StageSpec> chain = {{"repetition", stages[rule]}, {"greedy"}};
      const Row a = run(chain, logits, {.prompt = seen});
      const Row b = run(chain, shifted, {.prompt = seen});
      if (rule == 0) {
        ASSERT_EQ(a.logits(), b.logits());
      }
      n_changed[rule] += a.value.picked != b.value.picked ? 1 : 0;
    }
  }
  EXPECT_EQ(n_changed[0], 0);
  EXPECT_GT(n_changed[1], 10);
}

struct DryRule {
  double multiplier = 1;
  double base = 1.75;
  size_t allowed = 2;
  size_t last = 0;
};

/// The rule by its definition: for every place in the text, how long a run that ends there equals
/// the run at the text's end, without a breaker inside.
std::vector<double> naive_dry(const std::vector<int32_t>& text, const Facts& facts,
                              const DryRule& rule, size_t n_vocab) {
  const auto in = [](const std::vector<int32_t>& ids, int32_t id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
  };
  std::vector<int32_t> window = text;
  if (rule.last != 0 && window.size() > rule.last)
    window.erase(window.begin(), window.end() - static_cast<ptrdiff_t>(rule.last));
  std::map<int32_t, size_t> longest;
  const size_t n = window.size();
  for (size_t at = 0; at + 1 < n; ++at) {  // a run that ends at `at` would go on with the next
    size_t length = 0;
    while (length <= at && window[at - length] == window[n - 1 - length] &&
           !in(facts.breakers, window[n - 1 - length]))
      ++length;
    if (length >= rule.allowed) longest[window[at + 1]] = std::max(longest[window[at + 1]], length);
  }
  std::vector<double> penalties(n_vocab, 0);
  const double most = std::floor(88.7228391 / std::log(rule.base));
  for (const auto& [id, length] : longest) {
    if (in(facts.breakers, id) || in(facts.control, id)) continue;
    penalties[static_cast<size_t>(id)] =
        rule.multiplier * std::pow(rule.base, std::min(most, double(length - rule.allowed)));
  }
  return penalties;
}

TEST(SamplerPenalties, DryEqualsItsDefinition) {
  std::mt19937_64 random(5);
  int n_touched = 0;
  for (int round = 0; round < 400; ++round) {
    const size_t n_vocab = 2 + random() % 8;  // few ids, many repeats
    Facts facts;
    const size_t n_prompt = random() % 40, n_generated = random() % 40;
    for (size_t i = 0; i < n_prompt; ++i) facts.prompt.push_back(int32_t(random() % n_vocab));
    for (size_t i = 0; i < n_generated; ++i) facts.generated.push_back(int32_t(random() % n_vocab));
    if (round % 3 == 0) facts.breakers = {0};
    if (round % 4 == 0) facts.control = {1};
    const DryRule rule{0.5, round % 5 == 0 ? 3.0 : 1.75, 1 + random() % 4, round % 2 * 20ul};
    std::vector<int32_t> text = facts.prompt;
    text.insert(text.end(), facts.generated.begin(), facts.generated.end());
    const auto expected = naive_dry(text, facts, rule, n_vocab);
    const Row row = run({{"dry", json{{"multiplier", rule.multiplier},
                                      {"base", rule.base},
                                      {"allowed_length", rule.allowed},
                                      {"last", rule.last}}
                                     .dump()}},
                        std::vector<float>(n_vocab, 0), facts);
    for (size_t id = 0; id < n_vocab; ++id) {
      EXPECT_NEAR(-row.logits()[id], expected[id], 1e-6 * expected[id]) << "round " << round;
      n_touched += expected[id] > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(n_touched, 200);
}

// One id over and over: the longest repeat that a Z function meets, and past the clamp of the
// exponent (158 for base 1.75).
TEST(SamplerPenalties, DryClampsAndIsLinear) {
  const Facts facts{.generated = std::vector<int32_t>(200000, 1)};
  const Row row = run({{"dry", R"({"multiplier": 1})"}}, {0, 0, 0}, facts);
  EXPECT_EQ(row.logits()[0], 0);
  EXPECT_NEAR(row.logits()[1] / -std::pow(1.75, 158), 1, 1e-6);
  EXPECT_EQ(run({{"dry", R"({"multiplier": 0})"}}, {0, 0, 0}, facts).logits()[1], 0);
  const Row huge = run({{"dry", R"({"multiplier": 3e38})"}}, {0, 0, 0}, facts);
  EXPECT_EQ(huge.logits()[1], -FLT_MAX);
  EXPECT_EQ(run({{"dry", R"({"multiplier": 2, "base": 1})"}}, {0, 0, 0}, facts).logits()[1], -2);
}

TEST(SamplerPenalties, BiasesAddAndBan) {
  EXPECT_THAT(run({{"logit_bias", R"({"biases": {"0": 1.5, "2": "-inf"}})"}}, {1, 2, 3}).logits(),
              ElementsAre(2.5f, 2, -INFINITY));
  // Ids that an earlier stage removed stay away.
  EXPECT_THAT(
      run({{"top_k", R"({"k": 2})"}, {"logit_bias", R"({"biases": {"0": 9, "1": 1}})"}}, {1, 2, 3})
          .kept(),
      ElementsAre(1, 2));
  const Chain all({{"logit_bias", R"({"biases": {"0": "-inf", "1": "-inf"}})"}}, 2);
  Row row({1, 2});
  EXPECT_EQ(all.apply(row), PLUMB_NUMERIC);
}

}  // namespace
}  // namespace plumbline::test
