// Temperatures, parameters, rows without a distribution.
// Oracle: golden/cases/samplers.jsonl, and naive versions of each rule in long double.
#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "tests/unit/samplers/golden_rows.h"
#include "tests/unit/samplers/stages_in_a_row.h"

namespace plumbline::test {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SamplerStages, GoldenSamples) {
  int n = 0;
  for (const json& one : read_jsonl(golden_path("cases/samplers.jsonl"))) {
    if (one["input"]["op"] != "sample") continue;
    SCOPED_TRACE(one["id"]);
    ++n;
    const auto logits = logits_of(one["input"]["value"]);
    const json& t = one["params"]["temperature"];
    const std::string params = json{{"t", t}}.dump();
    // Temperature 0 has to be meant: it is an error without greedy_below.
    const std::string with_zero = json{{"t", t}, {"greedy_below", 0}}.dump();
    void* self = nullptr;
    EXPECT_EQ(Chain::table().create(nullptr, to_abi("temperature"), to_abi(params), 4, &self,
                                    nullptr) == PLUMB_OK,
              t.is_number() && t > 0);
    Chain::table().destroy(self);
    const auto created =
        Chain::table().create(nullptr, to_abi("temperature"), to_abi(with_zero), 4, &self, nullptr);
    Chain::table().destroy(self);
    if (created != PLUMB_OK) {
      EXPECT_EQ(one["expected"]["error"], true);
      continue;
    }
    for (const char* draw : {"cdf", "gumbel", "xorshift64", "mirostat_v2"}) {
      const Chain chain({{"temperature", with_zero}, {draw}}, static_cast<uint32_t>(logits.size()));
      for (uint64_t seed = 0; seed < 50; ++seed) {
        Row row(logits);
        const auto status = chain.apply(row, seed);
        if (one["expected"].contains("error")) {
          EXPECT_EQ(status, PLUMB_NUMERIC);
        } else {
          EXPECT_EQ(row.value.picked, one["expected"]["token"]);
        }
      }
    }
  }
  EXPECT_EQ(n, 7);
}

TEST(SamplerStages, MinusInfinityIsACandidateWithoutMass) {
  const float none = -INFINITY;
  EXPECT_THAT(run({{"top_k", R"({"k": 3})"}}, {none, 1, none, none}).kept(), ElementsAre(0, 1, 2));
  EXPECT_THAT(run({{"min_p", R"({"p": 0})"}}, {none, 1}).kept(), ElementsAre(0, 1));
  EXPECT_THAT(run({{"min_p", R"({"p": 1e-300})"}}, {none, 1}).kept(), ElementsAre(1));
  EXPECT_THAT(run({{"temperature", R"({"t": 2})"}}, {none, 1}).logits(), ElementsAre(none, 0.5f));
}

TEST(SamplerStages, TemperatureDividesInF64AndSurvivesItsEnds) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 8);
  std::vector<float> logits(1000);
  for (float& logit : logits) logit = normal(random);
  const auto scaled = run({{"temperature", R"({"t": 0.7})"}}, logits).logits();
  for (size_t i = 0; i < logits.size(); ++i)
    EXPECT_EQ(scaled[i], static_cast<float>(logits[i] / 0.7));
  EXPECT_EQ(run({{"temperature", R"({"t": 1})"}}, logits).logits(), logits);
  EXPECT_THAT(run({{"temperature", R"({"t": 1e-300})"}}, {3, 5, 5}).logits(),
              ElementsAre(-INFINITY, 0, 0));
  EXPECT_THAT(run({{"temperature", R"({"t": 1e300})"}}, {3, -5}).logits(), ElementsAre(0, 0));
}

TEST(SamplerStages, TemperatureIsGreedyBelow) {
  const std::vector<float> logits = {1, 3, 2, 3};
  EXPECT_THAT(run({{"temperature", R"({"t": 0.01, "greedy_below": 0.01})"}}, logits).kept(),
              ElementsAre(1));
  EXPECT_THAT(run({{"temperature", R"({"t": 0.02, "greedy_below": 0.01})"}}, logits).kept(),
              ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(run({{"temperature", R"({"t": 0, "greedy_below": 0})"}}, logits).kept(),
              ElementsAre(1));
}

TEST(SamplerStages, DynamicTemperatureEqualsANaiveOne) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 100; ++round) {
    std::normal_distribution<float> normal(0, round % 2 == 0 ? 0.5f : 5);
    std::vector<float> logits(1 + random() % 400);
    for (float& logit : logits) logit = normal(random);
    if (round % 3 == 0 && logits.size() > 2) logits[1] = -INFINITY;
    const double t = 0.1 * static_cast<double>(1 + random() % 15);
    const double range = 0.1 * static_cast<double>(random() % 15);
    const double exponent = 0.5 * static_cast<double>(1 + random() % 4);
    long double total = 0, h = 0;
    for (const float logit : logits) total += std::exp(static_cast<long double>(logit));
    for (const float logit : logits) {
      const long double p = std::exp(static_cast<long double>(logit)) / total;
      if (p > 0) h -= p * std::log(p);
    }
    const long double share = h / std::log(static_cast<long double>(logits.size()));
    const long double lowest = std::max(0.0, t - range);
    const long double divisor = lowest + (t + range - lowest) * std::pow(share, exponent);
    const Row row = run(
        {{"dynamic_temperature", json{{"t", t}, {"range", range}, {"exponent", exponent}}.dump()}},
        logits);
    ASSERT_EQ(row.kept().size(), logits.size());
    for (size_t i = 0; i < logits.size(); ++i) {
      const auto expected =
          static_cast<float>(logits.size() == 1 ? logits[i] : logits[i] / divisor);
      if (std::isinf(expected)) {
        EXPECT_EQ(row.logits()[i], expected);
      } else {  // the entropies differ in their last bits
        EXPECT_NEAR(row.logits()[i], expected, 1e-6 * std::fabs(expected));
      }
    }
  }
  // No doubt at all, and a range that reaches down to 0: the best stays alone.
  EXPECT_THAT(run({{"dynamic_temperature", R"({"t": 0.5, "range": 0.5})"}}, {5000, 0, 0}).kept(),
              ElementsAre(0));
}

TEST(SamplerStages, NoDistributionIsNumericInEachOfThem) {
  const std::vector<StageSpec> stages = {{"greedy"},
                                         {"temperature", R"({"t": 1})"},
                                         {"top_k", R"({"k": 1})"},
                                         {"top_p", R"({"p": 0.5})"},
                                         {"min_p", R"({"p": 0.5})"},
                                         {"typical", R"({"p": 0.5})"},
                                         {"top_n_sigma", R"({"n": 1})"},
                                         {"xtc", R"({"probability": 1})"},
                                         {"dynamic_temperature", R"({"t": 1, "range": 0.5})"},
                                         {"frequency", R"({"strength": 1})"},
                                         {"presence", R"({"strength": 1})"},
                                         {"repetition", R"({"theta": 1.1})"},
                                         {"dry", R"({"multiplier": 1})"},
                                         {"logit_bias", R"({"biases": {"0": 1}})"},
                                         {"grammar_mask"},
                                         {"cap"},
                                         {"cdf"},
                                         {"gumbel"},
                                         {"xorshift64"},
                                         {"mirostat_v2"}};
  const std::pair<std::vector<float>, const char*> rows[] = {
      {{1, NAN, 2}, "logit of id 1 is nan, expected a number or minus infinity"},
      {{1, 2, INFINITY}, "logit of id 2 is inf, expected a number or minus infinity"},
      {{-INFINITY, -INFINITY}, "all 2 logits are minus infinity, expected at least one number"}};
  for (const StageSpec& stage : stages) {
    for (const auto& [logits, message] : rows) {
      SCOPED_TRACE(stage.stage);
      const Chain chain({stage}, static_cast<uint32_t>(logits.size()));
      Row row(logits);
      ErrorBuffer error;
      EXPECT_EQ(chain.apply(row, 0, 0, error), PLUMB_NUMERIC);
      EXPECT_EQ(error.message(), message);
    }
  }
}

struct BadConfig {
  const char* stage;
  const char* params;
  plumb_status status;
  const char* message;
};

TEST(SamplerStages, ConfigErrorsNameKeySeenAndExpected) {
  const BadConfig bad[] = {
      {"temperature", R"({"t": 0})", PLUMB_INVALID_CONFIG,
       "temperature: t is 0, expected a number above 0; for the likeliest id use the stage greedy"},
      {"temperature", R"({"t": -1})", PLUMB_INVALID_CONFIG,
       "temperature: t is -1, expected a number above 0"},
      {"temperature", R"({"t": null})", PLUMB_INVALID_CONFIG,
       "temperature: t is null, expected a number above 0"},
      {"temperature", "{}", PLUMB_INVALID_CONFIG,
       "temperature: key \"t\" is missing, expected a number above 0"},
      {"temperature", R"({"t": 1, "temp": 2})", PLUMB_INVALID_CONFIG,
       "temperature: unknown key \"temp\", expected greedy_below or t"},
      {"top_k", R"({"k": 0})", PLUMB_INVALID_CONFIG,
       "top_k: k is 0, expected an integer of at least 1"},
      {"top_k", R"({"k": 1.5})", PLUMB_INVALID_CONFIG,
       "top_k: k is 1.5, expected an integer of at least 1"},
      {"top_k", R"({"k": 1, "ties": "some"})", PLUMB_INVALID_CONFIG,
       "top_k: ties is \"some\", expected \"exact\" or \"all\""},
      {"top_p", R"({"p": 1, "min_keep": 0})", PLUMB_INVALID_CONFIG,
       "top_p: min_keep is 0, expected an integer of at least 1"},
      {"typical", R"({"p": 0.5, "variant": "vllm"})", PLUMB_INVALID_CONFIG,
       "typical: variant is \"vllm\", expected \"hf\" or \"llamacpp\""},
      {"top_n_sigma", R"({"n": -1})", PLUMB_INVALID_CONFIG,
       "top_n_sigma: n is -1, expected a number of at least 0; 0 is off"},
      {"xtc", R"({"probability": 1, "threshold": 0.51})", PLUMB_INVALID_CONFIG,
       "xtc: threshold is 0.51, expected a number from 0 to 0.5"},
      {"temperature", R"({"t": -0.1, "greedy_below": 0})", PLUMB_INVALID_CONFIG,
       "temperature: t is -0.1, expected a number of at least 0"},
      {"dynamic_temperature", R"({"t": 1, "range": -1})", PLUMB_INVALID_CONFIG,
       "dynamic_temperature: range is -1, expected a number of at least 0"},
      {"frequency", R"({"strength": 1e39})", PLUMB_INVALID_CONFIG,
       "frequency: strength is 1e+39, expected a finite number of f32"},
      {"frequency", R"({"strength": 1, "last": -1})", PLUMB_INVALID_CONFIG,
       "frequency: last is -1, expected an integer of at least 0"},
      {"presence", R"({"strength": 1, "count": "prompt"})", PLUMB_INVALID_CONFIG,
       "presence: count is \"prompt\", expected \"generated\" or \"all\""},
      {"repetition", R"({"theta": 0})", PLUMB_INVALID_CONFIG,
       "repetition: theta is 0, expected a number above 0; 1 changes nothing"},
      {"repetition", R"({"theta": 1, "rule": "ctrl"})", PLUMB_INVALID_CONFIG,
       "repetition: rule is \"ctrl\", expected \"ctrl_normalised\" or \"ctrl_sign\""},
      {"dry", R"({"multiplier": 1, "base": 0.5})", PLUMB_INVALID_CONFIG,
       "dry: base is 0.5, expected a number of at least 1"},
      {"dry", R"({"multiplier": 1, "allowed_length": 100000})", PLUMB_INVALID_CONFIG,
       "dry: allowed_length is 100000, expected an integer from 1 to 65535"},
      {"cap", R"({"n": 0})", PLUMB_INVALID_CONFIG,
       "cap: n is 0, expected an integer of at least 1"},
      {"mirostat_v2", R"({"tau": -1})", PLUMB_INVALID_CONFIG,
       "mirostat_v2: tau is -1, expected a number from 0 to 1000000"},
      {"logit_bias", R"({"biases": {}})", PLUMB_INVALID_CONFIG,
       "logit_bias: biases is {}, expected a map from ids to biases, not empty"},
      {"logit_bias", R"({"biases": {"10": 1}})", PLUMB_INVALID_CONFIG,
       "logit_bias: biases has the key \"10\", expected an id from 0 to 9"},
      {"logit_bias", R"({"biases": {"1 ": 1}})", PLUMB_INVALID_CONFIG,
       "logit_bias: biases has the key \"1 \", expected an id from 0 to 9"},
      {"logit_bias", R"({"biases": {"1": 1, "01": 2}})", PLUMB_INVALID_CONFIG,
       "logit_bias: biases names id 1 twice, expected once"},
      {"logit_bias", R"({"biases": {"1": "inf"}})", PLUMB_INVALID_CONFIG,
       "logit_bias: biases[1] is \"inf\", expected a finite number of f32, or \"-inf\" as a ban"},
      {"top_p", R"({"p": 1.01})", PLUMB_INVALID_CONFIG,
       "top_p: p is 1.01, expected a number from 0 to 1"},
      {"top_p", R"({"p": "0.9"})", PLUMB_INVALID_CONFIG,
       "top_p: p is \"0.9\", expected a number from 0 to 1"},
      {"min_p", "[0.1]", PLUMB_INVALID_CONFIG, "min_p: parameters [0.1], expected an object"},
      {"min_p", "{", PLUMB_INVALID_CONFIG,
       "min_p: parameters that are not JSON, expected an object"},
      {"cdf", R"({"seed": 1})", PLUMB_INVALID_CONFIG,
       "cdf: unknown key \"seed\", expected no parameters"},
      {"scripted", R"({"ids": []})", PLUMB_INVALID_CONFIG,
       "scripted: ids is [], expected an array of ids below 10, not empty"},
      {"scripted", R"({"ids": [1, 10]})", PLUMB_INVALID_CONFIG,
       "scripted: ids[1] is 10, expected an id from 0 to 9"},
      {"scripted", R"({"ids": [1], "then": "stop"})", PLUMB_INVALID_CONFIG,
       "scripted: then is \"stop\", expected \"end\" or \"draw\""},
      {"topp", "{}", PLUMB_NOT_FOUND,
       "stage \"topp\", expected one of frequency presence repetition dry logit_bias grammar_mask "
       "cap "
       "top_k top_p min_p typical top_n_sigma xtc temperature dynamic_temperature greedy cdf "
       "gumbel "
       "xorshift64 mirostat_v2 scripted"},
  };
  for (const BadConfig& one : bad) {
    SCOPED_TRACE(one.params);
    ErrorBuffer error;
    void* self = nullptr;
    EXPECT_EQ(
        Chain::table().create(nullptr, to_abi(one.stage), to_abi(one.params), 10, &self, error),
        one.status);
    EXPECT_EQ(self, nullptr);
    EXPECT_THAT(std::string(error.message()), HasSubstr(one.message));
  }
}

TEST(SamplerStages, EveryStageHasASchema) {
  std::vector<std::string> names;
  for (uint32_t i = 0;; ++i) {
    const auto name = to_string(Chain::table().stage_at(i));
    if (name.empty()) break;
    names.push_back(name);
    const json schema = json::parse(to_view(Chain::table().parameters_schema_at(i)));
    EXPECT_EQ(schema["type"], "object") << name;
    EXPECT_EQ(schema["additionalProperties"], false) << name;
  }
  EXPECT_THAT(
      names, ElementsAre("frequency", "presence", "repetition", "dry", "logit_bias", "grammar_mask",
                         "cap", "top_k", "top_p", "min_p", "typical", "top_n_sigma", "xtc",
                         "temperature", "dynamic_temperature", "greedy", "cdf", "gumbel",
                         "xorshift64", "mirostat_v2", "scripted"));
  EXPECT_EQ(Chain::table().parameters_schema_at(21).bytes, 0u);
}

}  // namespace
}  // namespace plumbline::test
