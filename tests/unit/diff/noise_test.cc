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

NoiseRun run_of(const std::string& model) {
  return {model, "p.jsonl", 1, 2, 2, "a", "b", "2026-01-01"};
}

Report of_two_classes() {
  Report report;
  report.a.numerics = "canonical-1";
  report.b.numerics = "fast";
  report.prompts.resize(1);
  return report;
}

NoiseTable table_with(const NumericsClass& a, const NumericsClass& b, double rope, double noise) {
  NoiseTable table;
  table.add({a, b, {{"rope", rope}}, noise, 2 * noise, {run_of("m")}});
  return table;
}

TEST(NoiseTable, SidesMayBeExchanged) {
  const NoiseTable table = table_with(kCanonical, kReference, 1e-7, 0.01);
  EXPECT_EQ(table.op_budget("rope", kCanonical, kReference), 1e-7);
  EXPECT_EQ(table.op_budget("rope", kReference, kCanonical), 1e-7);
  EXPECT_EQ(table.gap_noise(kReference, kCanonical), 0.01);
  EXPECT_EQ(table.row_noise(kReference, kCanonical), 0.02);
}

TEST(NoiseTable, WhatIsNotThereIsNoZero) {
  const NoiseTable table = table_with(kCanonical, kReference, 1e-7, 0.01);
  EXPECT_EQ(table.op_budget("matmul", kCanonical, kReference), std::nullopt);
  NumericsClass other = kReference;
  other.numerics = "somebody's";
  EXPECT_EQ(table.op_budget("rope", kCanonical, other), std::nullopt);
  EXPECT_EQ(table.gap_noise(kCanonical, other), std::nullopt);
  EXPECT_EQ(table.gap_noise(kCanonical, kCanonical), std::nullopt);
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
  EXPECT_EQ(table.gap_noise(op_a, op_b), std::nullopt);
}

TEST(NoiseTable, AnOpThatReadsEqualFormatsIsNotExcusedByUnequalFiles) {
  const NumericsClass mixed{"*", "*", "*", "Q4_1+Q8_0"}, plain{"*", "*", "*", "Q4_1"};
  const NoiseTable table = table_with(mixed, plain, 0.3, 2.0);
  NumericsClass q8_0 = kCanonical;
  q8_0.weights = "Q8_0";
  EXPECT_EQ(table.op_budget("rope", kCanonical, q8_0), 0.3);
  EXPECT_EQ(table.op_budget("rope", kCanonical, kCanonical), std::nullopt);
}

TEST(NoiseTable, AStarOnBothSidesIsTheSameOnBoth) {
  const NumericsClass f32{"*", "q8", "f32", "*"}, f16{"*", "q8", "f16", "*"};
  const NoiseTable table = table_with(f32, f16, 0.3, 2.0);
  NumericsClass other = kCanonical;
  other.kv = "f16";
  EXPECT_EQ(table.gap_noise(kCanonical, other), 2.0);
  other.weights = "Q4_0";
  EXPECT_EQ(table.gap_noise(kCanonical, other), std::nullopt);
}

TEST(NoiseTable, LevelsAddUpOnTheWay) {
  NoiseTable table = table_with(kCanonical, kReference, 1e-7, 0.01);
  NumericsClass f16 = kReference;
  f16.kv = "f16";
  table.add({kReference, f16, {{"attend", 1e-3}}, 0.25, 0.5, {run_of("m")}});
  EXPECT_EQ(table.gap_noise(kCanonical, f16), 0.26);
  EXPECT_EQ(table.gap_noise(f16, kCanonical), 0.26);
  f16.activations = "f32";
  EXPECT_EQ(table.gap_noise(kCanonical, f16), std::nullopt);
}

TEST(NoiseTable, AKernelIsHeldToTheOracle) {
  const NoiseTable table = table_with(kCanonical, kReference, 3e-7, 0.01);
  EXPECT_EQ(table.kernel_budget("rope", kCanonical), 3e-7);
  EXPECT_EQ(table.kernel_budget("matmul", kCanonical), std::nullopt);
  EXPECT_GT(table.kernel_budget("matmul", kReference).value_or(0), 0);  // its output is f32
}

TEST(NoiseTable, OfASideWithSeveralBackendsEachUnequalPairCounts) {
  const NoiseTable table = table_with(kCanonical, kReference, 1e-7, 0.01);
  NumericsClass mixed = kCanonical;
  mixed.numerics = "canonical-1+reference-f64/1";
  EXPECT_EQ(table.gap_noise(kCanonical, mixed), 0.01);
  mixed.numerics = "canonical-1+somebody's";
  EXPECT_EQ(table.gap_noise(kCanonical, mixed), std::nullopt);
}

TEST(NoiseTable, FastIsNeverEqualToItself) {
  NumericsClass fast = kCanonical;
  fast.numerics = "fast";
  const NoiseTable table = table_with(fast, fast, 1e-6, 0.02);
  EXPECT_EQ(table.gap_noise(fast, fast), 0.02);
}

TEST(NoiseTable, ANameThatWouldStandForAnyIsRefused) {
  Report report = of_two_classes();
  report.a.numerics = "*";
  EXPECT_FALSE(measured_level(report, 2));
}

TEST(NoiseTable, SidesOfOneClassOrOfSeveralBackendsHaveNoLevel) {
  Report report = of_two_classes();
  EXPECT_TRUE(measured_level(report, 2));
  report.a.numerics = "canonical-1+fast";
  EXPECT_FALSE(measured_level(report, 2));
  report.a.numerics = report.b.numerics = "canonical-1";
  EXPECT_FALSE(measured_level(report, 2));
}

TEST(NoiseTable, AddingJoinsToTheLarger) {
  NoiseTable table = table_with(kCanonical, kReference, 1e-7, 0.01);
  table.add({kCanonical, kReference, {{"rope", 5e-8}, {"add", 1e-9}}, 0.02, 0.01, {run_of("n")}});
  table.add({kCanonical, kReference, {}, 0.01, 0.01, {run_of("n")}});
  ASSERT_EQ(table.levels().size(), 1u);
  EXPECT_EQ(table.levels()[0].op_budgets.at("rope"), 1e-7);
  EXPECT_EQ(table.levels()[0].op_budgets.at("add"), 1e-9);
  EXPECT_EQ(table.levels()[0].gap_noise, 0.02);
  EXPECT_EQ(table.levels()[0].row_noise, 0.02);
  ASSERT_EQ(table.levels()[0].runs.size(), 2u);
  EXPECT_EQ(table.levels()[0].runs[0].model, "m");
  EXPECT_EQ(table.levels()[0].runs[1].n_prompts, 2u);
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
  op.kind = "matmul";
  op.budget.reset();
  op.split.emplace();
  report.prompts[1].ops.push_back(op);
  LogitErrors logits;
  logits.gap_change = 0.1;
  logits.row_change = 0.3;
  report.prompts[0].logits = {logits};
  const auto measured = measured_level(report, 2);
  ASSERT_TRUE(measured) << measured.error().message;
  const NoiseLevel& level = *measured;
  EXPECT_EQ(level.op_budgets.at("rope"), 2.5e-6);
  EXPECT_EQ(level.op_budgets.at("add"), 1.2e-7);  // one rounding
  EXPECT_EQ(level.op_budgets.count("embed"), 0u);  // equal bits are promised
  EXPECT_EQ(level.op_budgets.count("matmul"), 0u);  // judged by its codes
  EXPECT_EQ(level.gap_noise, 0.2);
  EXPECT_EQ(level.row_noise, 0.6);
  EXPECT_EQ(level.a.weights, "*");
  EXPECT_EQ(level.a.activations, "q8");
  ASSERT_EQ(level.runs.size(), 1u);
  EXPECT_EQ(level.runs[0].model, "m");
  EXPECT_EQ(level.runs[0].n_prompts, 2u);
  EXPECT_EQ(level.runs[0].n_rows, 1u);
}

TEST(NoiseTable, EqualLogitsCalibrateNoZero) {
  Report report = of_two_classes();
  report.prompts[0].logits.resize(1);
  const auto level = measured_level(report, 2);
  ASSERT_TRUE(level);
  EXPECT_GT(level->gap_noise, 0);
  EXPECT_GT(level->row_noise, 0);
}

TEST(NoiseTable, OnlyHealthyPairsCalibrate) {
  Report empty = of_two_classes();
  empty.is_empty = true;
  EXPECT_FALSE(measured_level(empty, 2));
  Report wrong = of_two_classes();
  wrong.verdict = Verdict::kWrong;
  EXPECT_FALSE(measured_level(wrong, 2));
  Report failed = of_two_classes();
  failed.prompts[0].failure_a = failed.prompts[0].failure_b = "NUMERIC";
  EXPECT_FALSE(measured_level(failed, 2));
  Report infinite = of_two_classes();
  OpErrors op;
  op.introduced_worst = std::numeric_limits<double>::infinity();
  infinite.prompts[0].ops = {op};
  EXPECT_FALSE(measured_level(infinite, 2));
  infinite.prompts[0].ops = {};
  infinite.prompts[0].logits.resize(1);
  infinite.prompts[0].logits[0].row_change = std::numeric_limits<double>::infinity();
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
  EXPECT_THAT(message(R"({"schema": 9, "levels": []})"), HasSubstr("schema 9, expected 2"));
  EXPECT_THAT(message(R"({"schema": 2, "levels": [3]})"), HasSubstr("levels[0]: expected a map"));
  const std::string sides =
      R"("a": {"numerics": "x", "activations": "*", "kv": "*", "weights": "*"},)"
      R"("b": {"numerics": "y", "activations": "*", "kv": "*", "weights": "*"}, )"
      R"("row_noise_sigma": 1)";
  EXPECT_THAT(message((R"({"schema": 2, "levels": [{)" + sides +
                       R"(, "op_budgets": {"rope": -1}, "gap_noise_sigma": 0}]})")
                          .c_str()),
              HasSubstr("levels[0].op_budgets.rope: expected a number above 0"));
  // 0 would promise equal bits.
  EXPECT_THAT(message((R"({"schema": 2, "levels": [{)" + sides +
                       R"(, "op_budgets": {"rope": 0}, "gap_noise_sigma": 1}]})")
                          .c_str()),
              HasSubstr("levels[0].op_budgets.rope: expected a number above 0"));
  EXPECT_THAT(
      message((R"({"schema": 2, "levels": [{)" + sides + R"(, "op_budgets": {}}]})").c_str()),
      HasSubstr("gap_noise_sigma"));
  const auto with = [&](const std::string& rope, const std::string& gap, const std::string& runs) {
    return message((R"({"schema": 2, "levels": [{)" + sides + R"(, "op_budgets": {"rope": )" +
                    rope + R"(}, "gap_noise_sigma": )" + gap + R"(, "runs": )" + runs + "}]}")
                       .c_str());
  };
  const auto run = [](const std::string& n_rows) {
    return R"([{"model": "m", "prompts": "p", "kernels_a": "k", "kernels_b": "k", "date": "d",)"
           R"("headroom": 2, "n_prompts": 1, "n_rows": )" +
           n_rows + "}]";
  };
  EXPECT_EQ(with("0.5", "99", run("3")), "read");
  EXPECT_THAT(with("1", "99", run("3")), HasSubstr("rope: expected a number above 0 and below 1,"));
  EXPECT_THAT(with("0.5", "1e300", run("3")),
              HasSubstr("gap_noise_sigma: expected a number above 0 and below 100, found 1e+300"));
  EXPECT_THAT(with("0.5", "99", "[]"), HasSubstr("runs: expected a list of one run at least"));
  for (const char* n_rows : {"0", "-1", "2.5", "null", "1e30"})
    EXPECT_THAT(with("0.5", "99", run(n_rows)),
                HasSubstr("n_rows: expected a whole number above 0"));
  EXPECT_THAT(message(std::string(5000, '[').c_str()), HasSubstr("n.json"));
  const std::string one_star =
      R"("a": {"numerics": "x", "activations": "*", "kv": "f32", "weights": "*"},)"
      R"("b": {"numerics": "y", "activations": "*", "kv": "*", "weights": "*"})";
  EXPECT_THAT(message((R"({"schema": 2, "levels": [{)" + one_star + "}]}").c_str()),
              HasSubstr("\"*\" on one side alone"));
}

TEST(NoiseTable, TheShippedFileIsOne) {
  std::ifstream file(PLUMB_SOURCE_DIR "/configs/diff/noise.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto read = NoiseTable::parse(text, "noise.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_FALSE(read->levels().empty());
  for (const NoiseLevel& level : read->levels()) {
    ASSERT_FALSE(level.runs.empty()) << level.a.text() << " | " << level.b.text();
    for (const NoiseRun& run : level.runs) {
      EXPECT_THAT(run.prompts, HasSubstr("half calibration"));
      EXPECT_GE(run.headroom, 2);
    }
  }
}

}  // namespace
}  // namespace plumbline::diff
