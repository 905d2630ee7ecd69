// tokenizer.json files that were made to do harm. What is expected follows from the file by hand.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/unit/tokenizers/from_json.h"

namespace plumbline::tokenizers::hf {
namespace {

using nlohmann::json;
using test::TokenizerInstance;
using testing::ElementsAre;
using testing::HasSubstr;

json tiny() {
  return json::parse(R"({
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true},
    "decoder": {"type": "ByteLevel"},
    "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}})");
}

/// All tokens together are short enough for a string's own buffer, which moves with the string.
TEST(HostileJson, WholeWordsOfATinyVocabulary) {
  json file = tiny();
  file["model"]["ignore_merges"] = true;
  file["model"]["merges"] = json::array();
  const FromJson tokenizer(file.dump());
  ASSERT_EQ(tokenizer->status(), PLUMB_OK) << tokenizer->message();
  EXPECT_THAT(tokenizer->ids("ab"), ElementsAre(2));
  EXPECT_THAT(tokenizer->ids("b"), ElementsAre(1));
}

json replace(const char* pattern, const std::string& content) {
  return {{"type", "Replace"}, {"pattern", {{"String", pattern}}}, {"content", content}};
}

plumb_status encode(const TokenizerInstance& tokenizer, std::string_view text) {
  auto result = make_abi<plumb_encode_result>();
  const plumb_status status = tokenizer.encode_into(text, PLUMB_SPECIAL_OFF, result);
  return status == PLUMB_MORE_SPACE ? PLUMB_OK : status;
}

/// Forty steps that each double a text make a terabyte of one letter.
json doubling(const char* list) {
  json steps = {{"type", "Sequence"}, {list, json::array()}};
  for (int i = 0; i < 40; ++i) steps[list].push_back(replace("a", "aa"));
  return steps;
}

TEST(HostileJson, NormalizersThatDoubleTheText) {
  json file = tiny();
  file["normalizer"] = doubling("normalizers");
  const FromJson tokenizer(file.dump());
  ASSERT_EQ(tokenizer->status(), PLUMB_OK) << tokenizer->message();
  EXPECT_EQ(encode(*tokenizer.instance, "b"), PLUMB_OK);
  EXPECT_EQ(encode(*tokenizer.instance, "a"), PLUMB_INVALID_ARGUMENT);
  EXPECT_EQ(encode(*tokenizer.instance, "b"), PLUMB_OK);

  file["added_tokens"] = json::parse(R"([{"id": 3, "content": "<a>", "single_word": false,
    "lstrip": false, "rstrip": false, "normalized": true, "special": false}])");
  const FromJson added(file.dump());
  EXPECT_EQ(added->status(), PLUMB_CORRUPT);
  EXPECT_THAT(added->message(), HasSubstr("the vocabulary's rules make a text of"));
}

TEST(HostileJson, OneLongReplacementForEachCharacter) {
  json file = tiny();
  file["normalizer"] = replace("a", std::string(1 << 20, 'a'));
  const FromJson tokenizer(file.dump());
  ASSERT_EQ(tokenizer->status(), PLUMB_OK) << tokenizer->message();
  EXPECT_EQ(encode(*tokenizer.instance, "a"), PLUMB_OK);
  EXPECT_EQ(encode(*tokenizer.instance, std::string(10000, 'a')), PLUMB_INVALID_ARGUMENT);
}

TEST(HostileJson, DecodersThatDoubleTheTokens) {
  json file = tiny();
  file["decoder"] = doubling("decoders");
  const FromJson tokenizer(file.dump());
  EXPECT_EQ(tokenizer->status(), PLUMB_CORRUPT);
  EXPECT_THAT(tokenizer->message(), HasSubstr("the vocabulary's rules make a text of"));
}

/// The byte alphabet writes each byte of a letter beyond ASCII as two.
TEST(HostileJson, SplittersThatDoubleTheText) {
  json file = tiny();
  json& steps = file["pre_tokenizer"];
  steps = {{"type", "Sequence"}, {"pretokenizers", json::array()}};
  for (int i = 0; i < 40; ++i) steps["pretokenizers"].push_back(tiny()["pre_tokenizer"]);
  const FromJson tokenizer(file.dump());
  ASSERT_EQ(tokenizer->status(), PLUMB_OK) << tokenizer->message();
  EXPECT_EQ(encode(*tokenizer.instance, "ab"), PLUMB_OK);
  EXPECT_EQ(encode(*tokenizer.instance, "é"), PLUMB_INVALID_ARGUMENT);
}

TEST(HostileJson, APrefixForEachCharacter) {
  json file = tiny();
  file["model"]["continuing_subword_prefix"] = std::string(1000, '#');
  const FromJson tokenizer(file.dump());
  ASSERT_EQ(tokenizer->status(), PLUMB_OK) << tokenizer->message();
  EXPECT_EQ(encode(*tokenizer.instance, "bb"), PLUMB_OK);
  EXPECT_EQ(encode(*tokenizer.instance, std::string(10000, 'b')), PLUMB_INVALID_ARGUMENT);
}

/// Two million steps for each word, which alone are no more than one search may take.
TEST(HostileJson, ASlowExpressionInEachOfManyWords) {
  json file = tiny();
  file["pre_tokenizer"] = json::parse(R"({"type": "Sequence", "pretokenizers": [
    {"type": "WhitespaceSplit"},
    {"type": "Split", "pattern": {"Regex": "(?:a|a)+(?=!!)|."}, "behavior": "Isolated",
     "invert": false}]})");
  const FromJson tokenizer(file.dump());
  ASSERT_EQ(tokenizer->status(), PLUMB_OK) << tokenizer->message();
  const std::string word = std::string(20, 'a') + "! ";
  EXPECT_EQ(encode(*tokenizer.instance, word), PLUMB_OK);
  std::string text;
  for (int i = 0; i < 2000; ++i) text += word;
  EXPECT_EQ(encode(*tokenizer.instance, text), PLUMB_UNSUPPORTED);
  EXPECT_EQ(encode(*tokenizer.instance, word), PLUMB_OK);
}

}  // namespace
}  // namespace plumbline::tokenizers::hf
