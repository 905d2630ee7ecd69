// Texts for stage 1, and findings. Oracle: core/doc/protocol.md.
#include "core/protocol/corpus.h"

#include <gmock/gmock.h>

#include "core/golden/checks.h"
#include "core/golden/finding.h"

namespace plumbline::protocol {
namespace {

using diff::Verdict;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Corpus, ReadsLinesAsGoldenTokenizersHasThem) {
  const auto corpus = parse_corpus(
      "{\"text\": \"a\", \"special\": \"off\", \"ids\": [1, 2]}\n\n{\"bytes_hex\": \"ff00\"}", "x");
  ASSERT_TRUE(corpus) << corpus.error().message;
  ASSERT_EQ(corpus->texts.size(), 2u);
  EXPECT_FALSE(corpus->texts[0].parses_special);
  EXPECT_THAT(*corpus->texts[0].ids, ElementsAre(1, 2));
  EXPECT_EQ(corpus->texts[1].text, std::string("\xff\0", 2));
  EXPECT_TRUE(corpus->texts[1].parses_special);
  EXPECT_FALSE(corpus->texts[1].ids);
}

TEST(Corpus, NamesTheLineThatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"{\"text\": \"a\"}\n{", "x: line 2: expected JSON"},
      {"{\"text\": 1}", "x: line 1.text"},
      {"{}", "x: line 1.bytes_hex"},
      {"{\"text\": \"\", \"special\": \"no\"}", "parse or off"},
      {"{\"text\": \"\", \"ids\": [-1]}", "x: line 1.ids[0]"}};
  for (const auto& [lines, expected] : cases) {
    const auto corpus = parse_corpus(lines, "x");
    ASSERT_FALSE(corpus) << lines;
    EXPECT_THAT(corpus.error().message, HasSubstr(expected));
  }
}

TEST(Judgement, WhatIsNoNumberIsNeverWithin) {
  using golden::judged;
  EXPECT_EQ(judged(true, 0, {}, false), Verdict::kMatch);
  EXPECT_EQ(judged(false, 0.5, 1.0, false), Verdict::kDrift);
  EXPECT_EQ(judged(false, 0.5, 1.0, true), Verdict::kTieFlip);
  EXPECT_EQ(judged(false, 1.5, 1.0, false), Verdict::kUnexplained);
  EXPECT_EQ(judged(false, 0.5, {}, false), Verdict::kUnexplained);
  EXPECT_EQ(judged(false, 0.5, 0.0, false), Verdict::kWrong);
  EXPECT_EQ(judged(false, std::numeric_limits<double>::quiet_NaN(), 1.0, false),
            Verdict::kUnexplained);
}

TEST(Judgement, ARowWithSomethingThatIsNoNumberIsWrong) {
  const std::vector<float> golden = {1, 2, 3, 4};
  std::vector<float> row = golden;
  EXPECT_EQ(golden::check_logits("x", golden, row, 0.0).verdict, Verdict::kMatch);
  row[0] = std::numeric_limits<float>::quiet_NaN();  // at the bottom of the list
  EXPECT_EQ(golden::check_logits("x", golden, row, 100.0).verdict, Verdict::kWrong);
  EXPECT_EQ(golden::check_top("x", {{3, 4}, {2, 3}}, row, 1, 100.0).verdict, Verdict::kWrong);
}

TEST(Judgement, TheTopListIsComparedInOrderAndByItsGaps) {
  const std::vector<golden::TopLogit> golden = {{3, 4}, {2, 3}};
  const auto check = [&](std::vector<float> row, double noise) {
    return golden::check_top("x", golden, row, 1, noise).verdict;
  };
  EXPECT_EQ(check({1, 2, 3, 4}, 0), Verdict::kMatch);
  EXPECT_EQ(check({1, 2, 13, 14}, 0), Verdict::kWrong);  // one class: bits
  EXPECT_EQ(check({1, 2, 3.5f, 4}, 0.6), Verdict::kDrift);
  EXPECT_EQ(check({1, 2, 3.5f, 4}, 0.4), Verdict::kUnexplained);
  EXPECT_EQ(check({1, 2, 4.5f, 4}, 1.6), Verdict::kTieFlip);  // they change places
  EXPECT_EQ(check({1, 3.75f, 3, 4}, 0.8), Verdict::kTieFlip);  // a newcomer, 0.75 above the last
  EXPECT_EQ(check({1, 3.75f, 3, 4}, 0.7), Verdict::kUnexplained);
}

TEST(Summary, TheWorstCounts) {
  std::vector<golden::Finding> findings = {golden::not_compared("a", "why"),
                                           {.what = "b", .verdict = Verdict::kDrift}};
  const golden::Summary all = golden::summary(findings);
  EXPECT_EQ(all.verdict, Verdict::kDrift);
  EXPECT_EQ(all.n_compared, 1u);
  EXPECT_EQ(all.n_not_compared, 1u);
}

}  // namespace
}  // namespace plumbline::protocol
