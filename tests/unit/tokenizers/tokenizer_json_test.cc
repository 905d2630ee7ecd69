// tokenizer.json: every part alone, against the tokenizers library (golden/tokenizer_components),
// and files that are broken.
#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/golden_cases.h"
#include "tests/support/reference_decode.h"
#include "tests/unit/tokenizers/from_json.h"

namespace plumbline::tokenizers::hf {
namespace {

using nlohmann::json;
using test::TokenizerInstance;
using testing::ElementsAre;
using testing::HasSubstr;

std::string bytes_of_hex(const std::string& hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    out.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return out;
}

std::string text_of(const json& line) {
  return line.contains("text") ? line["text"].get<std::string>() : bytes_of_hex(line["bytes_hex"]);
}

/// The ids alone: spans overlap where white space that one added token took holds the next.
std::vector<int32_t> ids_of(const TokenizerInstance& tokenizer, const std::string& text,
                            uint32_t special) {
  std::vector<int32_t> ids(16 * text.size() + 8);
  auto result = make_abi<plumb_encode_result>();
  result.ids = ids.data();
  result.capacity = ids.size();
  EXPECT_EQ(tokenizer.encode_into(text, special, result), PLUMB_OK);
  ids.resize(result.n);
  return ids;
}

void expect_line(const TokenizerInstance& tokenizer, const json& line) {
  if (line.contains("with_specials")) {
    const plumb_tokenizer_info info = tokenizer.info();
    std::vector<int32_t> ids(info.prefix_ids, info.prefix_ids + info.n_prefix);
    for (const int32_t id : tokenizer.ids(text_of(line))) ids.push_back(id);
    ids.insert(ids.end(), info.suffix_ids, info.suffix_ids + info.n_suffix);
    EXPECT_EQ(ids, line["with_specials"].get<std::vector<int32_t>>()) << line;
    return;
  }
  if (!line.contains("text") && !line.contains("bytes_hex")) {
    EXPECT_EQ(test::reference_decode(tokenizer, line["ids"], line["skips_special"]),
              line["reads"].get<std::string>())
        << line;
    return;
  }
  const bool is_off = line.value("special", "parse") == "off";
  const std::vector<int32_t> ids =
      ids_of(tokenizer, text_of(line), is_off ? PLUMB_SPECIAL_OFF : PLUMB_SPECIAL_PARSE);
  if (line.contains("ids")) {
    EXPECT_EQ(ids, line["ids"].get<std::vector<int32_t>>()) << line;
    return;
  }
  std::string reads;  // each id is a byte
  for (const int32_t id : ids) reads.push_back(static_cast<char>(id));
  EXPECT_EQ(reads, line["reads"].get<std::string>()) << line;
}

class Components : public testing::TestWithParam<const char*> {};

TEST_P(Components, AreTheReferences) {
  std::unique_ptr<FromJson> tokenizer;
  size_t n_components = 0;
  for (const json& line : test::read_jsonl(
           test::golden_path(std::string("tokenizer_components/") + GetParam() + ".jsonl"))) {
    if (line.contains("component")) {
      tokenizer = std::make_unique<FromJson>(line["tokenizer"].dump());
      ASSERT_EQ((*tokenizer)->status(), PLUMB_OK)
          << line["component"] << ": " << (*tokenizer)->message();
      ++n_components;
    } else {
      SCOPED_TRACE("component " + std::to_string(n_components));
      expect_line(*tokenizer->instance, line);
    }
  }
  EXPECT_GE(n_components, 5u);
}

INSTANTIATE_TEST_SUITE_P(Files, Components,
                         testing::Values("normalizers", "pre_tokenizers", "models", "added_tokens",
                                         "decoders", "post_processors"),
                         [](const auto& one) { return std::string(one.param); });

/// A byte-level vocabulary small enough to read.
json small() {
  return json::parse(R"({"version": "1.0", "normalizer": null,
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true},
    "decoder": {"type": "ByteLevel"}, "post_processor": null,
    "added_tokens": [
      {"id": 5, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false,
       "normalized": false, "special": true},
      {"id": 6, "content": "<t>", "single_word": false, "lstrip": false, "rstrip": false,
       "normalized": false, "special": false}],
    "model": {"type": "BPE", "unk_token": null, "vocab": {"a": 0, "b": 1, "ab": 2, "Ġ": 3, "<": 4},
              "merges": [["a", "b"]]}})");
}

TEST(TokenizerJson, ReadsRolesFromTheConfig) {
  const FromJson tokenizer(small().dump(), R"({"bos_token": {"content": "<s>"}, "eos_token": "<t>",
    "pad_token": null, "add_bos_token": true, "model_max_length": 1000000000000000019884624838656,
    "added_tokens_decoder": {"5": {"content": "<s>"}}})");
  ASSERT_EQ(tokenizer->status(), PLUMB_OK) << tokenizer->message();
  const plumb_tokenizer_info info = tokenizer->info();
  EXPECT_EQ(info.n_vocab, 7u);
  EXPECT_EQ(info.bos_id, 5);
  EXPECT_EQ(info.eos_id, 6);
  EXPECT_EQ(info.padding_id, -1);
  EXPECT_EQ(info.add_bos, 1u);
  EXPECT_EQ(info.add_eos, 0u);
  EXPECT_EQ(tokenizer->attributes(5), PLUMB_TOKEN_CONTROL);
  EXPECT_EQ(tokenizer->attributes(6), PLUMB_TOKEN_USER_DEFINED | PLUMB_TOKEN_END);
}

TEST(TokenizerJson, MergesMayBeLinesOfText) {
  json file = small();
  file["model"]["merges"] = {"#version: 0.2", "a b"};
  const FromJson tokenizer(file.dump());
  ASSERT_EQ(tokenizer->status(), PLUMB_OK) << tokenizer->message();
  EXPECT_THAT(tokenizer->ids("ab"), ElementsAre(2));
}

TEST(TokenizerJson, HolesAreNoTokens) {
  json file = small();
  file["model"]["vocab"]["x"] = 9;
  file["added_tokens"] = json::array();
  const FromJson tokenizer(file.dump());
  ASSERT_EQ(tokenizer->status(), PLUMB_OK) << tokenizer->message();
  EXPECT_EQ(tokenizer->info().n_vocab, 10u);
  EXPECT_EQ(tokenizer->attributes(7), PLUMB_TOKEN_UNUSED);
  EXPECT_EQ(tokenizer->piece(7), "");
  EXPECT_THAT(tokenizer->ids("x"), ElementsAre(9));
}

TEST(TokenizerJson, NothingMakesABarredTokenOutOfUntrustedText) {
  const FromJson bytes(small().dump());
  EXPECT_THAT(bytes->ids_with_bar("<s>ab<s>", {3, 8}, 5), ElementsAre(5, 2, 4));
  EXPECT_THAT(bytes->ids_with_bar("ab ab", {3, 5}, 2), ElementsAre(2, 3, 0, 1)) << "a merge";

  json file = small();
  file["pre_tokenizer"] = {{"type", "WhitespaceSplit"}};
  file["model"] = json::parse(R"({"type": "Unigram", "unk_id": 0,
    "vocab": [["?", -9.0], ["a", -1.0], ["b", -1.0], ["ab", -1.0], ["</s>", 0.0]]})");
  const FromJson unigram(file.dump());
  ASSERT_EQ(unigram->status(), PLUMB_OK) << unigram->message();
  EXPECT_THAT(unigram->ids_with_bar("ab ab", {3, 5}, 3), ElementsAre(3, 1, 2));
  EXPECT_THAT(unigram->ids_with_bar("</s> </s>", {5, 9}, 4), ElementsAre(4, 0));

  file["model"] = json::parse(R"({"type": "WordPiece", "unk_token": "?",
    "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
    "vocab": {"?": 0, "a": 1, "##b": 2, "ab": 3}})");
  const FromJson pieces(file.dump());
  ASSERT_EQ(pieces->status(), PLUMB_OK) << pieces->message();
  EXPECT_THAT(pieces->ids_with_bar("ab ab", {3, 5}, 3), ElementsAre(3, 1, 2));

  file["model"] =
      json::parse(R"({"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "ab": 1}})");
  const FromJson words(file.dump());
  ASSERT_EQ(words->status(), PLUMB_OK) << words->message();
  EXPECT_THAT(words->ids_with_bar("ab ab", {3, 5}, 1), ElementsAre(1, 0));
}

/// The longest literal runs into the stranger's text; the shorter one is the file's own.
TEST(TokenizerJson, ABarredLiteralHidesNoShorterOne) {
  json file = small();
  file["model"]["vocab"][">"] = 5;
  file["added_tokens"][1]["content"] = "<s>>";
  file["added_tokens"][1]["special"] = true;
  const FromJson tokenizer(file.dump());
  ASSERT_EQ(tokenizer->status(), PLUMB_OK) << tokenizer->message();
  EXPECT_THAT(tokenizer->ids("<s>>"), ElementsAre(7));
  EXPECT_THAT(tokenizer->ids_with_bar("<s>>", {3, 4}, 7), ElementsAre(6, 5));
}

TEST(TokenizerJson, OfLiteralsThatTheNormalizerMakesEqualTheFirstCounts) {
  json file = small();
  file["normalizer"] = {{"type", "Lowercase"}};
  file["added_tokens"][0]["content"] = "Foo";
  file["added_tokens"][1]["content"] = "foo";
  file["added_tokens"][0]["normalized"] = file["added_tokens"][1]["normalized"] = true;
  const FromJson tokenizer(file.dump());
  ASSERT_EQ(tokenizer->status(), PLUMB_OK) << tokenizer->message();
  EXPECT_THAT(tokenizer->ids("afooaFOO"), ElementsAre(0, 5, 0, 5));
  EXPECT_EQ(tokenizer->piece(6), "foo");
}

TEST(TokenizerJson, UnknownWordsNeedAnUnknownToken) {
  json file = small();
  file["model"] = json::parse(R"({"type": "WordLevel", "unk_token": "?", "vocab": {"ab": 1}})");
  file["added_tokens"] = json::array();
  file["pre_tokenizer"] = {{"type", "WhitespaceSplit"}};
  const FromJson tokenizer(file.dump());
  ASSERT_EQ(tokenizer->status(), PLUMB_OK) << tokenizer->message();
  EXPECT_THAT(tokenizer->ids("ab"), ElementsAre(1));
  auto result = make_abi<plumb_encode_result>();
  EXPECT_EQ(tokenizer->encode_into("x", PLUMB_SPECIAL_OFF, result), PLUMB_CORRUPT);
}

/// Quadratic work would not end.
TEST(TokenizerJson, AMillionCharactersInEveryComponent) {
  for (const char* section : {"normalizers", "pre_tokenizers", "models", "added_tokens"}) {
    for (const json& line : test::read_jsonl(
             test::golden_path(std::string("tokenizer_components/") + section + ".jsonl"))) {
      if (!line.contains("component")) continue;
      const FromJson tokenizer(line["tokenizer"].dump());
      ASSERT_EQ(tokenizer->status(), PLUMB_OK) << tokenizer->message();
      for (const char* unit : {"a", " ", "\u0301", "\n", "<x"}) {
        std::string text;
        while (text.size() < 200000) text += unit;
        std::vector<int32_t> ids(3 * text.size() + 8);
        auto result = make_abi<plumb_encode_result>();
        result.ids = ids.data();
        result.capacity = ids.size();
        const plumb_status status = tokenizer->encode_into(text, PLUMB_SPECIAL_PARSE, result);
        EXPECT_TRUE(status == PLUMB_OK || status == PLUMB_MORE_SPACE) << line["component"] << unit;
      }
    }
  }
}

struct Damage {
  const char* name;
  void (*apply)(json&);
  plumb_status status;
  const char* message;
};

class JsonDamage : public testing::TestWithParam<Damage> {};

TEST_P(JsonDamage, IsSaid) {
  json file = small();
  GetParam().apply(file);
  const FromJson tokenizer(file.dump());
  EXPECT_EQ(tokenizer->status(), GetParam().status);
  EXPECT_THAT(tokenizer->message(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Files, JsonDamage,
    testing::Values(
        Damage{"no_model", [](json& f) { f.erase("model"); }, PLUMB_CORRUPT, "model: missing"},
        Damage{"no_vocabulary", [](json& f) { f["model"].erase("vocab"); }, PLUMB_CORRUPT,
               "model.vocab: missing"},
        Damage{"no_merges", [](json& f) { f["model"].erase("merges"); }, PLUMB_CORRUPT,
               "model.merges: missing"},
        Damage{"empty_vocabulary",
               [](json& f) {
                 f["model"]["vocab"] = json::object();
                 f["model"]["merges"] = json::array();
                 f["added_tokens"] = json::array();
               },
               PLUMB_CORRUPT, "no tokens"},
        Damage{"id_twice", [](json& f) { f["model"]["vocab"]["x"] = 2; }, PLUMB_CORRUPT,
               "id 2 is taken by \"ab\""},
        Damage{"id_absurd", [](json& f) { f["model"]["vocab"]["x"] = 4000000000u; }, PLUMB_CORRUPT,
               "id 4000000000"},
        Damage{"id_far_from_the_others", [](json& f) { f["model"]["vocab"]["x"] = 16777215; },
               PLUMB_CORRUPT, "id 16777215, less than 4192 expected for 6 tokens"},
        Damage{"id_negative", [](json& f) { f["model"]["vocab"]["x"] = -1; }, PLUMB_CORRUPT,
               "\"x\""},
        Damage{"id_is_text", [](json& f) { f["model"]["vocab"]["x"] = "1"; }, PLUMB_CORRUPT,
               "\"x\""},
        Damage{"merge_of_unknown",
               [](json& f) {
                 f["model"]["merges"] = json::array({json::array({"a", "zz"})});
               },
               PLUMB_CORRUPT, "merge 0"},
        Damage{"merge_into_unknown",
               [](json& f) {
                 f["model"]["merges"] = json::array({json::array({"b", "a"})});
               },
               PLUMB_CORRUPT, "merge 0"},
        Damage{"merge_of_three", [](json& f) { f["model"]["merges"] = {"a b a"}; }, PLUMB_CORRUPT,
               "merge 0"},
        Damage{"dropout", [](json& f) { f["model"]["dropout"] = 0.1; }, PLUMB_UNSUPPORTED,
               "model.dropout"},
        Damage{"type", [](json& f) { f["model"]["type"] = "Magic"; }, PLUMB_UNSUPPORTED,
               "\"Magic\""},
        Damage{"version", [](json& f) { f["version"] = "9"; }, PLUMB_UNSUPPORTED, "version"},
        Damage{"normalizer",
               [](json& f) {
                 f["normalizer"] = {{"type", "Rot13"}};
               },
               PLUMB_UNSUPPORTED, "normalizer: the normalizer \"Rot13\""},
        Damage{"charsmap",
               [](json& f) {
                 f["normalizer"] = {{"type", "Precompiled"}, {"precompiled_charsmap", "////////"}};
               },
               PLUMB_CORRUPT, "normalizer.precompiled_charsmap"},
        Damage{"regex",
               [](json& f) {
                 f["pre_tokenizer"] = {{"type", "Split"},
                                       {"pattern", {{"Regex", "(a"}}},
                                       {"behavior", "Isolated"},
                                       {"invert", false}};
               },
               PLUMB_UNSUPPORTED, "pre_tokenizer.pattern"},
        Damage{"behaviour",
               [](json& f) {
                 f["pre_tokenizer"] = {{"type", "Split"},
                                       {"pattern", {{"String", "a"}}},
                                       {"behavior", "Sometimes"},
                                       {"invert", false}};
               },
               PLUMB_CORRUPT, "pre_tokenizer.behavior"},
        Damage{"nested_step",
               [](json& f) {
                 f["pre_tokenizer"] = {
                     {"type", "Sequence"},
                     {"pretokenizers", {{{"type", "Whitespace"}}, {{"type", "X"}}}}};
               },
               PLUMB_UNSUPPORTED, "pre_tokenizer.pretokenizers[1]"},
        Damage{"decoder",
               [](json& f) {
                 f["decoder"] = {{"type", "CTC"}};
               },
               PLUMB_UNSUPPORTED, "decoder"},
        Damage{"template",
               [](json& f) {
                 f["post_processor"] = {
                     {"type", "BertProcessing"}, {"cls", {"<s>", 900}}, {"sep", {"<s>", 5}}};
               },
               PLUMB_CORRUPT, "post_processor.cls[1]: token 900"},
        Damage{"literal_without_flags", [](json& f) { f["added_tokens"][0].erase("special"); },
               PLUMB_CORRUPT, "added_tokens[0].special: missing"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(TokenizerJson, WhatIsNoJson) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "[";
  for (const std::string& text : {std::string("{"), std::string(""), std::string("[]"), deep,
                                  small().dump() + "}", std::string("{\"a\": \"\xFF\"}")}) {
    const FromJson tokenizer(text);
    EXPECT_EQ(tokenizer->status(), PLUMB_CORRUPT);
    EXPECT_THAT(tokenizer->message(), HasSubstr("tokenizer.json: "));
  }
  const FromJson broken(small().dump(), "{");
  EXPECT_EQ(broken->status(), PLUMB_CORRUPT);
  EXPECT_THAT(broken->message(), HasSubstr("tokenizer_config.json"));
}

}  // namespace
}  // namespace plumbline::tokenizers::hf
