// Verdicts and places of prompts and reports, and the hints of chained runs.
// Oracle: core/doc/diff.md, "Verdicts".
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/diff/onset_hints.h"
#include "core/diff/text_doors.h"
#include "core/diff/verdicts.h"

namespace plumbline::diff {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

OpErrors op(const char* name, Verdict verdict, uint32_t position) {
  OpErrors errors;
  errors.op = name;
  errors.verdict = verdict;
  errors.n_bits_differ = verdict == Verdict::kMatch ? 0 : 1;
  errors.example = OpErrors::Example{position, 0, position, 1, 2, {}, {}, true};
  return errors;
}

TEST(Judge, APromptIsAsBadAsItsWorstPart) {
  PromptReport prompt;
  prompt.ids_a = {1, 2, 3};
  prompt.ops = {op("embed", Verdict::kMatch, 0), op("0.add", Verdict::kDrift, 0)};
  judge(prompt);
  EXPECT_EQ(prompt.verdict, Verdict::kDrift);
  ASSERT_TRUE(prompt.place);
  EXPECT_EQ(prompt.place->op, "0.add");
}

TEST(Judge, ThePlaceIsTheFirstBeyondBudgetInTheOrderOfDoorsAndSteps) {
  PromptReport prompt;
  prompt.ids_a = {1, 2, 3};
  prompt.ops = {op("0.a", Verdict::kDrift, 0), op("0.b", Verdict::kWrong, 4),
                op("0.c", Verdict::kWrong, 2)};
  LogitErrors logits;
  logits.verdict = Verdict::kWrong;
  prompt.logits = {logits};
  judge(prompt);
  // 0.b is beyond it only at the second generated token, 0.c inside the prompt.
  EXPECT_EQ(prompt.place->op, "0.c");
  EXPECT_EQ(prompt.place->step, 0u);
  EXPECT_EQ(prompt.verdict, Verdict::kWrong);
}

TEST(Judge, ThePlaceOfATieFlipIsThePickThatFlips) {
  PromptReport prompt;
  prompt.ids_a = {1};
  LogitErrors first, second;
  first.verdict = Verdict::kDrift;
  second.position = second.step = 1;
  second.verdict = Verdict::kTieFlip;
  prompt.ops = {op("embed", Verdict::kDrift, 0)};
  prompt.logits = {first, second};
  judge(prompt);
  ASSERT_TRUE(prompt.place);
  EXPECT_EQ(prompt.place->door, Door::kLogits);
  EXPECT_EQ(prompt.place->step, 1u);

  ExactDoor picks;
  picks.door = Door::kPick;
  picks.verdict = Verdict::kTieFlip;
  picks.place = Place{};
  picks.place->door = Door::kPick;
  picks.place->step = 1;
  picks.place->seen_a = "id 254";
  prompt.exact = {picks};
  judge(prompt);
  EXPECT_EQ(prompt.verdict, Verdict::kTieFlip);
  EXPECT_EQ(prompt.place->door, Door::kPick);
  EXPECT_EQ(prompt.place->seen_a, "id 254");
}

TEST(Judge, ThePlaceSaysWhereNeitherSideHasAFiniteNumber) {
  PromptReport prompt;
  prompt.ids_a = {1, 2, 3};
  prompt.ops = {op("0.a", Verdict::kUnexplained, 0)};
  prompt.ops[0].example->a = std::numeric_limits<float>::infinity();
  judge(prompt);
  EXPECT_EQ(prompt.place->seen_a, "channel 0: inf");
  prompt.ops[0].example->b = std::numeric_limits<float>::infinity();
  judge(prompt);
  EXPECT_EQ(prompt.place->seen_b, "channel 0: inf, no finite number on either side");
}

Cause cause_of(const char* signature, const Place& place) {
  Cause cause;
  cause.signature = signature;
  cause.place = place;
  return cause;
}

TEST(Judge, TheCauseIsThatOfTheFirstPlaceThatHasOne) {
  PromptReport prompt;
  prompt.ids_a = {1, 2, 3};
  ExactDoor tokens;
  tokens.door = Door::kTokens;
  tokens.verdict = Verdict::kWrong;
  tokens.place = Place{};
  tokens.place->door = Door::kTokens;
  prompt.exact = {tokens};
  prompt.ops = {op("0.b", Verdict::kWrong, 1)};
  ASSERT_EQ(differences(prompt).size(), 2u);
  add_cause(prompt, cause_of("of the op", differences(prompt)[1].place));
  add_cause(prompt, std::nullopt);
  judge(prompt);
  ASSERT_TRUE(prompt.cause);
  EXPECT_EQ(prompt.cause->place.op, "0.b");
  EXPECT_FALSE(explains_place(prompt));  // the place is the ids'

  add_cause(prompt, cause_of("of the ids", *tokens.place));
  add_cause(prompt, cause_of("of the op", differences(prompt)[1].place));
  EXPECT_EQ(prompt.cause->signature, "of the ids");
  EXPECT_TRUE(explains_place(prompt));
}

TEST(Judge, AFailureOfOneSideIsADifference) {
  PromptReport prompt;
  prompt.failure_b = "NUMERIC";
  judge(prompt);
  EXPECT_EQ(prompt.verdict, Verdict::kWrong);
  prompt = {};
  prompt.failure_a = prompt.failure_b = "NUMERIC";
  judge(prompt);
  EXPECT_EQ(prompt.verdict, Verdict::kUnexplained);
}

TEST(Judge, NothingComparedIsNoMatch) {
  Report report;
  judge(report);
  EXPECT_TRUE(report.is_empty);
  EXPECT_NE(report.verdict, Verdict::kMatch);
  report = {};
  report.prompts.resize(1);
  report.prompts[0].exact = {not_compared(Door::kPrompt, "ids were given")};
  judge(report);
  EXPECT_TRUE(report.is_empty);
}

TEST(Judge, AMissingLevelIsSaid) {
  Report report;
  report.prompts.resize(1);
  report.prompts[0].ops = {op("0.a", Verdict::kUnexplained, 0)};
  judge(report.prompts[0]);
  judge(report);
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_THAT(report.notes[0], HasSubstr("no noise level"));
}

TEST(TextDoors, TheFirstByteThatDiffersIsNamed) {
  EXPECT_EQ(compare_bytes(Door::kText, "same", "same").verdict, Verdict::kMatch);
  const ExactDoor door =
      compare_bytes(Door::kPrompt, "<|im_start|>user\nHi", "<|im_start|>user Hi");
  ASSERT_TRUE(door.place);
  EXPECT_EQ(door.place->at, 16u);
  EXPECT_THAT(door.place->seen_a, HasSubstr("\\nHi"));
  EXPECT_EQ(door.verdict, Verdict::kWrong);
  const ExactDoor shorter = compare_bytes(Door::kBytes, "abc", "ab");
  EXPECT_EQ(shorter.place->at, 2u);
  EXPECT_THAT(shorter.place->seen_b, HasSubstr("ends there"));
}

TEST(TextDoors, TheFirstIdThatDiffersIsNamedWithItsBytes) {
  const pipeline::Encoding a{{5, 6, 7}, {{0, 2}, {2, 3}, {3, 5}}};
  const pipeline::Encoding b{{5, 9}, {{0, 2}, {2, 5}}};
  const ExactDoor door = compare_ids(a, b, "hello");
  ASSERT_TRUE(door.place);
  EXPECT_EQ(door.place->at, 1u);
  EXPECT_EQ(door.place->bytes_begin, 2u);
  EXPECT_EQ(door.place->bytes_end, 3u);
  EXPECT_EQ(door.place->seen_a, "id 6 \"l\"");
  EXPECT_EQ(door.place->seen_b, "id 9 \"llo\"");
}

LogitErrors logits(double kl, uint32_t agree = 10) {
  LogitErrors errors;
  errors.kl = kl;
  errors.top_k_agree = agree;
  errors.top = {{1, 4.0f, 4.0f, 0, 0, ""}, {2, 1.0f, 1.0f, 1, 1, ""}};
  return errors;
}

TEST(OnsetHints, EachPatternHasItsOwn) {
  PromptReport report;
  const std::vector<int32_t> a{1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                               11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
  report.logits = {logits(1e-4), logits(5)};
  std::vector<int32_t> b{1, 99};
  EXPECT_THAT(onset_hints(report, a, b), testing::ElementsAre(HasSubstr("mask or the KV cache")));

  report.logits = std::vector<LogitErrors>(7, logits(1e-3));
  b = {1, 2, 3, 4, 5, 6, 9, 8, 9, 8, 9, 8, 9, 8, 9, 8, 9, 8, 9, 8};
  EXPECT_THAT(onset_hints(report, a, b), testing::ElementsAre(HasSubstr("RoPE")));

  LogitErrors scaled = logits(0.5);
  for (LogitErrors::Top& top : scaled.top) top.b *= 20;
  report.logits = {scaled};
  EXPECT_THAT(onset_hints(report, a, a), testing::ElementsAre(HasSubstr("norm")));

  report.logits = std::vector<LogitErrors>(20, logits(1e-3));
  b = a;
  b.back() = 99;
  EXPECT_THAT(onset_hints(report, a, b), testing::ElementsAre(HasSubstr("part late")));

  report.logits = {logits(0)};
  EXPECT_THAT(onset_hints(report, a, a), IsEmpty());
}

TEST(OnsetHints, RepetitionIsTheShareOfRunsThatCameBefore) {
  EXPECT_EQ(repetition(std::vector<int32_t>{1, 2, 3}), 0);
  // Runs of four: 1212 2121 1212 2121 1212: three of five came before.
  EXPECT_DOUBLE_EQ(repetition(std::vector<int32_t>{1, 2, 1, 2, 1, 2, 1, 2}), 3.0 / 5);
}

}  // namespace
}  // namespace plumbline::diff
