// Oracle: the regular expressions themselves, run by the tokenizers library
// (golden/tokenizer_fuzz/words-*.jsonl).
#include <gtest/gtest.h>

#include <map>

#include "plugins/tokenizers/hf/pre_tokenizer.h"
#include "tests/support/golden_cases.h"

namespace plumbline::tokenizers::hf {
namespace {

std::vector<size_t> word_ends(Pattern pattern, std::string_view text) {
  std::vector<size_t> ends;
  size_t last = 0;
  WordCursor cursor(pattern, text);
  for (size_t begin = 0, end = 0; cursor.next(&begin, &end); last = end) {
    EXPECT_EQ(begin, last) << "words lie end to end";
    EXPECT_GT(end, begin);
    ends.push_back(end);
  }
  EXPECT_EQ(last, text.size());
  return ends;
}

class Words : public testing::TestWithParam<const char*> {};

TEST_P(Words, AreThoseOfTheRegularExpression) {
  const PreTokenizer* known = find_pre_tokenizer(GetParam());
  ASSERT_NE(known, nullptr);
  const auto lines = test::read_jsonl(
      test::golden_path("tokenizer_fuzz/words-" + std::string(GetParam()) + ".jsonl"));
  ASSERT_GE(lines.size(), 500u);
  for (const auto& line : lines) {
    const std::string text = line["text"];
    EXPECT_EQ(word_ends(known->pattern, text), line["ends"].get<std::vector<size_t>>()) << line;
  }
}

INSTANTIATE_TEST_SUITE_P(Patterns, Words,
                         testing::Values("gpt-2", "smollm", "default", "qwen2", "llama-bpe",
                                         "qwen35", "gpt-4o", "tekken", "deepseek-v3"),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(PreTokenizers, NamesThatShareAPattern) {
  EXPECT_EQ(find_pre_tokenizer("llama3")->pattern, Pattern::kLlama3);
  EXPECT_EQ(find_pre_tokenizer("")->pattern, Pattern::kDefault);
  EXPECT_EQ(find_pre_tokenizer("no-such"), nullptr);
}

TEST(PreTokenizers, ByTheirRegularExpressions) {
  const auto find = [](std::vector<std::string_view> regexes) { return find_pattern(regexes); };
  EXPECT_EQ(*find({kGpt2Regex}), Pattern::kGpt2);
  EXPECT_EQ(*find({kDigitRegex, kGpt2Regex}), Pattern::kDigitsThenGpt2);
  EXPECT_EQ(find({kGpt2Regex, kDigitRegex}), nullptr) << "the order counts";
  EXPECT_EQ(find({kDigitRegex}), nullptr);
  EXPECT_EQ(find({}), nullptr);
}

TEST(Kinds, OfAllCharacters) {
  const std::map<std::string, uint8_t> kinds = {
      {"upper", kUpper},   {"lower", kLower}, {"caseless", kCaseless}, {"mark", kMark},
      {"number", kNumber}, {"blank", kBlank}, {"newline", kNewline},   {"sign", kSign}};
  char32_t at = 0;
  const auto expect_up_to = [&](char32_t end, uint8_t kind) {
    for (; at < end; ++at) {
      if (at >= 0xD800 && at <= 0xDFFF) continue;  // no characters
      ASSERT_EQ(kind_of(at), kind) << std::hex << static_cast<uint32_t>(at);
    }
  };
  for (const auto& line : test::read_jsonl(test::golden_path("tokenizer_fuzz/kinds.jsonl"))) {
    expect_up_to(line["first"].get<uint32_t>(), 0);
    expect_up_to(line["last"].get<uint32_t>() + 1, kinds.at(line["kind"]));
  }
  expect_up_to(0x110000, 0);
}

/// A splitter that looks back or forth over a run for each of its words would not come to an end
/// here.
TEST(Words, RunsOfAMillionCharacters) {
  for (const Pattern pattern : {Pattern::kGpt2, Pattern::kDigitsThenGpt2, Pattern::kDefault,
                                Pattern::kLlama3, Pattern::kQwen2, Pattern::kQwen35,
                                Pattern::kO200k, Pattern::kTekken, Pattern::kDeepSeekV3}) {
    for (const char* unit : {"a", " ", "\n", " \n", "1", "'", "!", "\u0301", "a ", "$1", "A", "aA",
                             "\u4E00", "\u0001", "\u30FB"}) {
      std::string text;
      while (text.size() < 1000000) text += unit;
      EXPECT_FALSE(word_ends(pattern, text).empty());
    }
  }
}

}  // namespace
}  // namespace plumbline::tokenizers::hf
