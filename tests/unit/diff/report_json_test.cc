// Oracle: the published schema, and that nothing is lost on the way there and back.
#include "core/diff/report_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "tests/support/json_schema.h"

namespace plumbline::diff {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Something in every field.
Report full_report() {
  Report report;
  report.a = {"a.yaml",
              "00",
              "t",
              "11",
              "k",
              "auto",
              "canonical-1",
              "q8",
              "f32",
              "Q4_1",
              {{"kernels", "k 1"}},
              false};
  report.b = report.a;
  report.b.is_runner = true;
  report.mode = Mode::kChained;
  report.pair_class = "x | y";
  report.noise_source = "noise.json";
  report.notes = {"a note"};
  report.differences = {"kernels.backend: a -> b"};
  report.verdict = Verdict::kWrong;
  report.seconds = 1.5;
  PromptReport prompt;
  prompt.index = 3;
  prompt.verdict = Verdict::kWrong;
  prompt.prompt = "caf\xc3\xa9";
  prompt.ids_a = {1, 2};
  prompt.ids_b = {1, 3};
  prompt.pieces_a = {"caf", "\xc3\xa9"};
  prompt.pieces_b = {"caf", "e"};
  ExactDoor door;
  door.door = Door::kTokens;
  door.is_compared = true;
  door.size_a = 2;
  door.place = Place{Door::kTokens, "", -1, 1, 0, 3, 5, "id 2", "id 3"};
  door.verdict = Verdict::kWrong;
  prompt.exact = {door, ExactDoor{}};
  OpErrors op;
  op.op = "3.attn_q_rope";
  op.layer = 3;
  op.kind = "rope";
  op.n_rows = 2;
  op.introduced_worst = kInfinity;
  op.inherited = 0.25;
  op.total = 0.5;
  op.gain = 2;
  op.budget = 1e-7;
  op.split = OpErrors::Split{1, 2, 3, 4, 5, 6};
  op.example =
      OpErrors::Example{1, 2, 4, 0.1f, -std::numeric_limits<float>::infinity(), 5, 3, true};
  op.introduced_by_row = {0, kInfinity};
  op.total_by_row = {0.5, 0.25};
  prompt.ops = {op, OpErrors{}};
  LogitErrors logits;
  logits.kl = 1e-300;
  logits.noise = 0.5;
  logits.top = {{7, 1.5f, 1.25f, 0, 1, "\xff piece"}};
  prompt.logits = {logits};
  PickErrors pick;
  pick.coin = 0.1;
  pick.first_stage = "top_k {\"k\":2}";
  pick.coin_b = 0.25;
  pick.stages = {{.a = "top_k {\"k\":2}",
                  .b = "",
                  .n_kept_a = 2,
                  .n_kept_b = 3,
                  .n_only_b = 1,
                  .only_b = {7},
                  .differs = true}};
  pick.total_variation = std::nan("");
  prompt.picks = {pick, PickErrors{}};
  prompt.text_a = "a";
  prompt.failure_b = "NUMERIC";
  prompt.bits_per_byte_a = 1.25;
  prompt.place = door.place;
  prompt.cause = Cause{"rope_pairing", "B rotates halves", 1e-8, 0.5, {"other"}, *door.place};
  prompt.notes = {"a note of the prompt"};
  prompt.hints = {"a hint"};
  report.prompts = {prompt, PromptReport{}};
  return report;
}

std::string text_of(const Report& report) {
  return to_json(report).dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

TEST(ReportJson, IsWhatTheSchemaSays) {
  std::ifstream file(PLUMB_SOURCE_DIR "/configs/schema/diff-report.schema.json");
  const test::JsonSchema schema(nlohmann::json::parse(file));
  EXPECT_THAT(schema.violations(nlohmann::json::parse(text_of(full_report()))), IsEmpty());
  EXPECT_THAT(schema.violations(nlohmann::json::parse(text_of(Report{}))), IsEmpty());
  auto wrong = nlohmann::json::parse(text_of(full_report()));
  wrong["prompts"][0]["ops"][0].erase("kind");
  EXPECT_EQ(schema.violations(wrong).size(), 1u);
}

TEST(ReportJson, ComesBackAsItWas) {
  const std::string text = text_of(full_report());
  const auto read = report_from_json(nlohmann::ordered_json::parse(text));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(text_of(*read), text);
  EXPECT_TRUE(std::isinf(read->prompts[0].ops[0].introduced_worst));
  EXPECT_EQ(read->prompts[0].ops[0].introduced_by_row[1], kInfinity);
  EXPECT_EQ(read->prompts[0].ops[0].example->b, -kInfinity);
  EXPECT_TRUE(std::isnan(read->prompts[0].picks[0].total_variation));
  EXPECT_EQ(read->prompts[0].picks[0].coin, 0.1);
  EXPECT_EQ(read->prompts[0].picks[1].coin, std::nullopt);
  EXPECT_EQ(read->prompts[0].ops[0].example->a, 0.1f);
  EXPECT_EQ(read->prompts[0].ops[0].example->held_at_a, 5);
  EXPECT_EQ(read->prompts[0].ops[0].example->held_at_b, 3);
  EXPECT_EQ(read->prompts[0].logits[0].kl, 1e-300);
  EXPECT_EQ(read->seconds, 1.5);
}

TEST(ReportJson, WhatIsNotFiniteHasAName) {
  const nlohmann::ordered_json json = to_json(full_report());
  EXPECT_EQ(json["prompts"][0]["ops"][0]["introduced_worst"], "inf");
  EXPECT_EQ(json["prompts"][0]["ops"][0]["example"]["b"], "-inf");
  EXPECT_EQ(json["prompts"][0]["picks"][0]["total_variation"], "nan");
  EXPECT_TRUE(json["prompts"][0]["ops"][1]["total"].is_null());
}

TEST(ReportJson, MistakesAreNamed) {
  const auto message = [](const char* pointer, const nlohmann::ordered_json& value) {
    auto json = nlohmann::ordered_json::parse(text_of(full_report()));
    json[nlohmann::ordered_json::json_pointer(pointer)] = value;
    const auto read = report_from_json(json);
    return read ? std::string("read") : read.error().message;
  };
  EXPECT_THAT(message("/schema", 2), HasSubstr("expected a diff report of schema 1"));
  EXPECT_THAT(message("/verdict", "GOOD"), HasSubstr("verdict: expected one of the known names"));
  EXPECT_THAT(message("/prompts/0/ops/1/kind", 3),
              HasSubstr("prompts[0].ops[1].kind: expected a text"));
  EXPECT_THAT(message("/prompts/0/index", -1), HasSubstr("expected a whole number that fits"));
  EXPECT_THAT(message("/prompts/0/index", 5000000000), HasSubstr("a whole number that fits"));
  EXPECT_THAT(message("/prompts/0/logits", "x"), HasSubstr("prompts[0].logits: expected a list"));
  for (const nlohmann::ordered_json& kl :
       {nlohmann::ordered_json(), nlohmann::ordered_json("Inf")}) {
    EXPECT_THAT(message("/prompts/0/logits/0/kl", kl),
                HasSubstr("kl: expected a number, \"inf\", \"-inf\" or \"nan\""));
  }
  EXPECT_THAT(message("/is_empty", 1), HasSubstr("expected true or false"));
  for (const char* measure : {"/prompts/0/logits/0/kl", "/prompts/0/logits/0/row_noise",
                              "/prompts/0/ops/0/budget", "/prompts/0/ops/0/introduced_by_row/0"}) {
    EXPECT_THAT(message(measure, -0.5), HasSubstr("expected no negative number, found -0.5"));
    EXPECT_THAT(message(measure, "-inf"), HasSubstr("expected no negative number"));
  }
  EXPECT_EQ(message("/prompts/0/logits/0/cosine", -0.5), "read");
  EXPECT_FALSE(report_from_json(nlohmann::ordered_json::parse("[]")));
  EXPECT_FALSE(report_from_json(nlohmann::ordered_json::parse(R"({"schema": 1})")));
}

// Oracle: core/doc/diff.md, "Verdicts": the worst of the parts.
TEST(ReportJson, AVerdictThatItsPartsContradictIsRefused) {
  const auto message = [](const Report& report) {
    const auto read = report_from_json(to_json(report));
    return read ? std::string("read") : read.error().message;
  };
  Report report;
  report.prompts.resize(1);
  report.prompts[0].ops.resize(1);
  EXPECT_EQ(message(report), "read");
  report.verdict = Verdict::kUnexplained;  // by a note
  EXPECT_EQ(message(report), "read");
  report.verdict = Verdict::kWrong;
  EXPECT_THAT(message(report), HasSubstr("report: verdict: found WRONG, expected what its parts"));
  report.prompts[0].ops[0].verdict = Verdict::kWrong;
  EXPECT_THAT(message(report), HasSubstr("prompts[0].verdict: found MATCH, expected what its parts "
                                         "come to, WRONG"));
  report.prompts[0].verdict = Verdict::kWrong;
  EXPECT_EQ(message(report), "read");
  report.verdict = Verdict::kMatch;
  EXPECT_THAT(message(report), HasSubstr("report: verdict: found MATCH, expected"));
  report.prompts[0] = {};
  EXPECT_THAT(message(report), HasSubstr("is_empty: found false, but nothing was compared"));
  report.is_empty = true;
  EXPECT_THAT(message(report), HasSubstr("found MATCH, expected what its parts come to, UNEXPL"));
  report.verdict = Verdict::kUnexplained;
  EXPECT_EQ(message(report), "read");
  report.prompts[0].exact.resize(1);
  report.prompts[0].exact[0].verdict = Verdict::kWrong;
  EXPECT_THAT(message(report), HasSubstr("door 00 prompt is WRONG and says not where"));
}

}  // namespace
}  // namespace plumbline::diff
