// Oracle: core/doc/diff.md, "Noise levels"; configs/diff/noise.json must be such a file.
#include "core/diff/noise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <limits>

namespace plumbline::diff {
namespace {

using testing::HasSubstr;

const NumericsClass kCanonical{"canonical-1", "q8", "f32", "Q4_1"};
const NumericsClass kReference{"reference-f64/1", "q8", "f32", "Q4_1"};

NoiseTable table_with(const NumericsClass& a, const NumericsClass& b, double rope, double noise) {
  NoiseTable table;
  table.add({a, b, {{"rope", rope}}, noise, "a test", 1, {"m"}});
  return table;
}

TEST(NoiseTable, SidesMayBeExchanged) {
  const NoiseTable table = table_with(kCanonical, kReference, 1e-7, 0.01);
  EXPECT_EQ(table.op_budget("rope", kCanonical, kReference), 1e-7);
  EXPECT_EQ(table.op_budget("rope", kReference, kCanonical), 1e-7);
  EXPECT_EQ(table.logit_noise(kReference, kCanonical), 0.01);
}

TEST(NoiseTable, WhatIsNotThereIsNoZero) {
  const NoiseTable table = table_with(kCanonical, kReference, 1e-7, 0.01);
  EXPECT_EQ(table.op_budget("matmul", kCanonical, kReference), std::nullopt);
  NumericsClass other = kReference;
  other.numerics = "somebody's";
  EXPECT_EQ(table.op_budget("rope", kCanonical, other), std::nullopt);
  EXPECT_EQ(table.logit_noise(kCanonical, other), std::nullopt);
  EXPECT_EQ(table.logit_noise(kCanonical, kCanonical), std::nullopt);
}

TEST(NoiseTable, FieldsThatDoNotMatterForAnOpFitEverything) {
  const NoiseTable table = table_with(kCanonical, kReference, 1e-7, 0.01);
  EXPECT_EQ(table.op_budget("rope", {"canonical-1", "", "", ""}, {"reference-f64/1", "", "", ""}),
            1e-7);
}

TEST(NoiseTable, AnOpHasOneOfTheFormatsOfAFile) {
  NumericsClass a = kCanonical, b = kReference;
  a.weights = b.weights = "Q4_K+Q6_K";
  const NoiseTable table = table_with(a, b, 1e-7, 0.01);
  NumericsClass op_a = a, op_b = b;
  op_a.weights = op_b.weights = "Q6_K";
  EXPECT_EQ(table.op_budget("rope", op_a, op_b), 1e-7);
  EXPECT_EQ(table.logit_noise(op_a, op_b), std::nullopt);
}

TEST(NoiseTable, AnOpThatReadsEqualFormatsIsNotExcusedByUnequalFiles) {
  const NumericsClass mixed{"*", "*", "*", "Q4_1+Q8_0"}, plain{"*", "*", "*", "Q4_1"};
  const NoiseTable table = table_with(mixed, plain, 0.3, 2.0);
  NumericsClass q8_0 = kReference;
  q8_0.weights = "Q8_0";
  EXPECT_EQ(table.op_budget("rope", kCanonical, q8_0), 0.3);
  EXPECT_EQ(table.op_budget("rope", kCanonical, kReference), std::nullopt);
}

TEST(NoiseTable, OfASideWithSeveralBackendsEachUnequalPairCounts) {
  const NoiseTable table = table_with(kCanonical, kReference, 1e-7, 0.01);
  NumericsClass mixed = kCanonical;
  mixed.numerics = "canonical-1+reference-f64/1";
  EXPECT_EQ(table.logit_noise(kCanonical, mixed), 0.01);
  mixed.numerics = "canonical-1+somebody's";
  EXPECT_EQ(table.logit_noise(kCanonical, mixed), std::nullopt);
}

TEST(NoiseTable, FastIsNeverEqualToItself) {
  NumericsClass fast = kCanonical;
  fast.numerics = "fast";
  const NoiseTable table = table_with(fast, fast, 1e-6, 0.02);
  EXPECT_EQ(table.logit_noise(fast, fast), 0.02);
}

TEST(NoiseTable, ANameThatWouldStandForAnyIsRefused) {
  Report report;
  report.prompts.resize(1);
  report.a.numerics = "*";
  EXPECT_FALSE(measured_level(report, 2));
}

TEST(NoiseTable, AddingJoinsToTheLarger) {
  NoiseTable table = table_with(kCanonical, kReference, 1e-7, 0.01);
  table.add({kCanonical, kReference, {{"rope", 5e-8}, {"add", 1e-9}}, 0.02, "more", 2, {"n"}});
  ASSERT_EQ(table.levels().size(), 1u);
  EXPECT_EQ(table.levels()[0].op_budgets.at("rope"), 1e-7);
  EXPECT_EQ(table.levels()[0].op_budgets.at("add"), 1e-9);
  EXPECT_EQ(table.levels()[0].logit_noise, 0.02);
  EXPECT_EQ(table.levels()[0].n_prompts, 3u);
  EXPECT_THAT(table.levels()[0].models, testing::ElementsAre("m", "n"));
}

TEST(NoiseTable, ALevelIsWhatWasSeenWithHeadroom) {
  Report report;
  report.a = {"m", "", "", "", "", "", "canonical-1", "q8", "f32", "Q4_1", {}, false};
  report.b = report.a;
  report.b.numerics = "fast";
  report.prompts.resize(2);
  OpErrors op;
  op.kind = "rope";
  op.introduced_worst = 1.23e-6;
  report.prompts[0].ops = {op};
  op.introduced_worst = 1.1e-6;
  report.prompts[1].ops = {op};
  op.kind = "add";
  op.introduced_worst = 0;
  report.prompts[1].ops.push_back(op);
  op.kind = "embed";
  op.budget = 0;
  report.prompts[1].ops.push_back(op);
  LogitErrors logits;
  logits.gap_change = 0.1;
  report.prompts[0].logits = {logits};
  const auto measured = measured_level(report, 2);
  ASSERT_TRUE(measured) << measured.error().message;
  const NoiseLevel& level = *measured;
  EXPECT_EQ(level.op_budgets.at("rope"), 2.5e-6);
  EXPECT_EQ(level.op_budgets.at("add"), 1.2e-7);  // one rounding
  EXPECT_EQ(level.op_budgets.count("embed"), 0u);  // equal bits are promised
  EXPECT_EQ(level.logit_noise, 0.2);
  EXPECT_EQ(level.a.weights, "*");
  EXPECT_EQ(level.n_prompts, 2u);
}

TEST(NoiseTable, EqualLogitsCalibrateNoZero) {
  Report report;
  report.prompts.resize(1);
  report.prompts[0].logits.resize(1);
  const auto level = measured_level(report, 2);
  ASSERT_TRUE(level);
  EXPECT_GT(level->logit_noise, 0);
}

TEST(NoiseTable, OnlyHealthyPairsCalibrate) {
  Report empty;
  empty.is_empty = true;
  EXPECT_FALSE(measured_level(empty, 2));
  Report wrong;
  wrong.verdict = Verdict::kWrong;
  EXPECT_FALSE(measured_level(wrong, 2));
  Report failed;
  failed.prompts.resize(1);
  failed.prompts[0].failure_a = failed.prompts[0].failure_b = "NUMERIC";
  EXPECT_FALSE(measured_level(failed, 2));
  Report infinite;
  infinite.prompts.resize(1);
  OpErrors op;
  op.introduced_worst = std::numeric_limits<double>::infinity();
  infinite.prompts[0].ops = {op};
  EXPECT_FALSE(measured_level(infinite, 2));
  infinite.prompts[0].ops = {};
  infinite.prompts[0].logits.resize(1);
  infinite.prompts[0].logits[0].largest_absolute = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(measured_level(infinite, 2));
}

TEST(NoiseTable, WhatIsWrittenIsRead) {
  const NoiseTable table = table_with(kCanonical, kReference, 1e-7, 0.01);
  const auto read = NoiseTable::parse(table.text(), "noise.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->text(), table.text());
}

TEST(NoiseTable, MistakesAreNamed) {
  const auto message = [](const char* text) {
    const auto read = NoiseTable::parse(text, "n.json");
    return read ? std::string("read") : read.error().message;
  };
  EXPECT_THAT(message("[]"), HasSubstr("n.json: expected a JSON object"));
  EXPECT_THAT(message(R"({"schema": 2, "levels": []})"), HasSubstr("schema 2, expected 1"));
  EXPECT_THAT(message(R"({"schema": 1, "levels": [3]})"), HasSubstr("levels[0]: expected a map"));
  const std::string sides =
      R"("a": {"numerics": "x", "activations": "*", "kv": "*", "weights": "*"},)"
      R"("b": {"numerics": "y", "activations": "*", "kv": "*", "weights": "*"}, "source": "s",)"
      R"("n_prompts": 1, "models": [])";
  EXPECT_THAT(message((R"({"schema": 1, "levels": [{)" + sides +
                       R"(, "op_budgets": {"rope": -1}, "logit_noise_sigma": 0}]})")
                          .c_str()),
              HasSubstr("levels[0].op_budgets.rope: expected a number above 0"));
  // 0 would promise equal bits.
  EXPECT_THAT(message((R"({"schema": 1, "levels": [{)" + sides +
                       R"(, "op_budgets": {"rope": 0}, "logit_noise_sigma": 1}]})")
                          .c_str()),
              HasSubstr("levels[0].op_budgets.rope: expected a number above 0"));
  EXPECT_THAT(
      message((R"({"schema": 1, "levels": [{)" + sides + R"(, "op_budgets": {}}]})").c_str()),
      HasSubstr("logit_noise_sigma"));
  EXPECT_THAT(message(std::string(5000, '[').c_str()), HasSubstr("n.json"));
}

TEST(NoiseTable, TheShippedFileIsOne) {
  std::ifstream file(PLUMB_SOURCE_DIR "/configs/diff/noise.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto read = NoiseTable::parse(text, "noise.json");
  ASSERT_TRUE(read) << read.error().message;
  for (const NoiseLevel& level : read->levels()) {
    EXPECT_FALSE(level.source.empty());
    EXPECT_GT(level.n_prompts, 0u);
    EXPECT_FALSE(level.models.empty());
  }
}

}  // namespace
}  // namespace plumbline::diff
