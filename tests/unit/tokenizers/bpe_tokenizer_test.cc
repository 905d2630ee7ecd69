// A vocabulary small enough to merge by hand, and files that are broken. Ids that need a reference
// are checked in tokenizer_tiny_models_test.cc.
#include "plugins/tokenizers/hf/tokenizer.h"

#include <gmock/gmock.h>

#include <random>
#include <thread>

#include "plugins/tokenizers/hf/byte_alphabet.h"
#include "tests/support/made_metadata.h"
#include "tests/support/tokenizer_instance.h"

namespace plumbline::tokenizers::hf {
namespace {

using test::Encoded;
using test::MadeMetadata;
using test::TokenizerInstance;
using testing::ElementsAre;
using testing::HasSubstr;

const plumb_tokenizer& table() {
  return *tokenizer::TokenizerTable<Tokenizer>::get();
}

constexpr int32_t kAb = 256, kAbc = 257, kBc = 258, kSpaceA = 259, kEnd = 260, kBold = 261,
                  kLongEnd = 262, kHole = 263;

std::vector<std::string> tokens() {
  std::vector<std::string> all;
  for (int byte = 0; byte < 256; ++byte) all.emplace_back(character_of(static_cast<uint8_t>(byte)));
  for (const char* more : {"ab", "abc", "bc", "Ġa", "<|im_end|>", "<b>", "<|im_end|>>", "[PAD]x"})
    all.emplace_back(more);
  return all;
}

std::vector<int32_t> types() {
  std::vector<int32_t> all(tokens().size(), 1);
  all[kEnd] = 3;
  all[kBold] = 4;
  all[kLongEnd] = 3;
  all[kHole] = 5;
  return all;
}

/// "b c" comes before "a b", so that "abc" is "a", "bc".
void fill(MadeMetadata& made, const char* pre = "gpt-2") {
  made.text("tokenizer.ggml.model", "gpt2")
      .text("tokenizer.ggml.pre", pre)
      .strings("tokenizer.ggml.tokens", tokens())
      .integers("tokenizer.ggml.token_type", types())
      .strings("tokenizer.ggml.merges", {"b c", "a b", "ab c", "Ġ a"})
      .integer("tokenizer.ggml.eos_token_id", kEnd);
}

TEST(GgufTokenizer, MergesByRank) {
  MadeMetadata made;
  fill(made);
  const TokenizerInstance bpe(table(), made.metadata());
  ASSERT_EQ(bpe.status(), PLUMB_OK) << bpe.message();
  EXPECT_THAT(bpe.ids("abc"), ElementsAre('a', kBc));
  EXPECT_THAT(bpe.ids("abab"), ElementsAre(kAb, kAb));
  EXPECT_THAT(bpe.ids(" ab"), ElementsAre(' ', kAb)) << "\"a b\" has the lower rank";
  EXPECT_THAT(bpe.ids(" a"), ElementsAre(kSpaceA));
  EXPECT_TRUE(bpe.ids("").empty());
}

TEST(GgufTokenizer, AWordThatIsATokenNeedsNoMergesWhereTheFileSaysSo) {
  MadeMetadata made;
  fill(made, "llama-bpe");
  const TokenizerInstance bpe(table(), made.metadata());
  EXPECT_THAT(bpe.ids("abc"), ElementsAre(kAbc));
  EXPECT_EQ(bpe.info().add_bos, 0u) << "there is no such token";
}

TEST(GgufTokenizer, SpecialLiterals) {
  MadeMetadata made;
  fill(made);
  const TokenizerInstance bpe(table(), made.metadata());
  EXPECT_THAT(bpe.ids("ab<|im_end|><b>", PLUMB_SPECIAL_PARSE), ElementsAre(kAb, kEnd, kBold));
  const std::vector<int32_t> off = bpe.ids("ab<|im_end|><b>", PLUMB_SPECIAL_OFF);
  EXPECT_THAT(off, testing::Not(testing::Contains(kEnd)));
  EXPECT_EQ(off.back(), kBold) << "a literal that is text is matched all the same";
  EXPECT_THAT(bpe.ids("<|im_end|>>"), ElementsAre(kLongEnd)) << "the longest literal";
  EXPECT_THAT(bpe.ids("[PAD]x"), testing::Not(testing::Contains(kHole)));
  EXPECT_EQ(bpe.attributes(kEnd), PLUMB_TOKEN_CONTROL | PLUMB_TOKEN_END);
  EXPECT_EQ(bpe.attributes(kBold), PLUMB_TOKEN_USER_DEFINED);
  EXPECT_EQ(bpe.attributes(-1), PLUMB_TOKEN_UNUSED);
  EXPECT_EQ(bpe.attributes(1 << 30), PLUMB_TOKEN_UNUSED);
}

/// A file may give an end of generation as an ordinary token and merges that make it.
TEST(GgufTokenizer, PlainTextNeverBecomesAControlToken) {
  MadeMetadata made;
  fill(made);
  auto all = tokens();
  auto kinds = types();
  for (const char* more : {"[e", "[e~", "[e~["}) {
    all.emplace_back(more);
    kinds.push_back(1);
  }
  made.strings("tokenizer.ggml.tokens", all)
      .integers("tokenizer.ggml.token_type", kinds)
      .strings("tokenizer.ggml.merges", {"[ e", "[e ~", "[e~ ["});
  const TokenizerInstance bpe(table(), made.metadata());
  const int32_t end = static_cast<int32_t>(all.size()) - 1;
  EXPECT_EQ(bpe.attributes(end), PLUMB_TOKEN_CONTROL | PLUMB_TOKEN_END);
  EXPECT_THAT(bpe.ids("[e~[", PLUMB_SPECIAL_PARSE), ElementsAre(end));
  EXPECT_THAT(bpe.ids("[e~[", PLUMB_SPECIAL_OFF), testing::Not(testing::Contains(end)));
}

TEST(GgufTokenizer, SpansAreThoseOfTheSource) {
  MadeMetadata made;
  fill(made, "qwen2");
  const TokenizerInstance bpe(table(), made.metadata());
  // a, e with a separate acute accent (one character in NFC: two byte tokens), a broken byte, ab
  const std::string text =
      "ae\u0301\xFF"
      "ab";
  const Encoded encoded = bpe.encode(text);
  EXPECT_THAT(encoded.ids, ElementsAre('a', 0xC3, 0xA9, 0xEF, 0xBF, 0xBD, kAb));
  const uint64_t begins[] = {0, 1, 1, 4, 4, 4, 5};
  const uint64_t ends[] = {1, 4, 4, 5, 5, 5, 7};
  for (size_t i = 0; i < encoded.spans.size(); ++i) {
    EXPECT_EQ(encoded.spans[i].begin, begins[i]) << i;
    EXPECT_EQ(encoded.spans[i].end, ends[i]) << i;
  }
}

TEST(GgufTokenizer, PiecesAreTheBytes) {
  MadeMetadata made;
  fill(made);
  const TokenizerInstance bpe(table(), made.metadata());
  for (int byte = 0; byte < 256; ++byte)
    EXPECT_EQ(bpe.piece(byte), std::string(1, static_cast<char>(byte)));
  EXPECT_EQ(bpe.piece(kSpaceA, true), " a");
  EXPECT_EQ(bpe.piece(kEnd), "<|im_end|>");
  plumb_bytes bytes{};
  EXPECT_EQ(bpe.table().piece(bpe.self(), -1, 0, &bytes, nullptr), PLUMB_INVALID_ARGUMENT);
  EXPECT_EQ(bpe.table().piece(bpe.self(), 264, 0, &bytes, nullptr), PLUMB_INVALID_ARGUMENT);
}

TEST(GgufTokenizer, RandomBytesComeBack) {
  MadeMetadata made;
  fill(made);
  const TokenizerInstance bpe(table(), made.metadata());
  std::mt19937 random(6);
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 60, ' ');
    for (char& c : text)
      c = static_cast<char>(random() % 3 == 0 ? random() % 256 : "abc <>|"[random() % 7]);
    EXPECT_EQ(bpe.decode(bpe.ids(text, PLUMB_SPECIAL_OFF)), utf8::to_lossy(text));
  }
}

TEST(GgufTokenizer, SaysHowMuchSpaceIsNeeded) {
  MadeMetadata made;
  fill(made);
  const TokenizerInstance bpe(table(), made.metadata());
  auto result = make_abi<plumb_encode_result>();
  EXPECT_EQ(bpe.encode_into("xyz", PLUMB_SPECIAL_OFF, result), PLUMB_MORE_SPACE);
  EXPECT_EQ(result.n, 3u);
  int32_t ids[2] = {-1, -1};
  result.ids = ids;
  result.capacity = 2;
  EXPECT_EQ(bpe.encode_into("xyz", PLUMB_SPECIAL_OFF, result), PLUMB_MORE_SPACE);
  EXPECT_EQ(result.n, 3u);
  EXPECT_EQ(bpe.encode_into("xy", PLUMB_SPECIAL_OFF, result), PLUMB_OK);
  EXPECT_THAT(ids, ElementsAre('x', 'y'));
  EXPECT_EQ(bpe.encode_into("x", 7, result), PLUMB_INVALID_ARGUMENT);
}

/// Quadratic merging would take 10^12 steps.
TEST(GgufTokenizer, AWordOfAMillionCharacters) {
  MadeMetadata made;
  fill(made, "qwen2");
  const TokenizerInstance bpe(table(), made.metadata());
  for (const char* unit : {"a", "ab", "abc", " ", "\n", "\xFF", "<|im_", "<|im_end|>", "\u0301"}) {
    std::string text;
    while (text.size() < 1000000) text += unit;
    EXPECT_FALSE(bpe.ids(text).empty());
  }
}

TEST(GgufTokenizer, CallsFromSeveralThreadsAgree) {
  MadeMetadata made;
  fill(made);
  const TokenizerInstance bpe(table(), made.metadata());
  const std::string text = "abc ab a <b> abcabc<|im_end|>";
  const std::vector<int32_t> expected = bpe.ids(text);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 500; ++round) EXPECT_EQ(bpe.ids(text), expected);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(GgufTokenizer, RecognisesItsOwn) {
  MadeMetadata made;
  fill(made);
  EXPECT_EQ(table().recognise(&made.metadata(), nullptr), PLUMB_OK);
  ErrorBuffer error;
  made.text("tokenizer.ggml.pre", "no-such");
  EXPECT_EQ(table().recognise(&made.metadata(), error), PLUMB_UNSUPPORTED);
  EXPECT_THAT(std::string(error.message()), HasSubstr("no-such"));
  made.text("tokenizer.ggml.model", "llama");
  EXPECT_EQ(table().recognise(&made.metadata(), nullptr), PLUMB_UNSUPPORTED);
  made.remove("tokenizer.ggml.model");
  EXPECT_EQ(table().recognise(&made.metadata(), nullptr), PLUMB_UNSUPPORTED);
}

struct Damage {
  const char* name;
  void (*apply)(MadeMetadata&);
  const char* message;
};

class BpeDamage : public testing::TestWithParam<Damage> {};

TEST_P(BpeDamage, IsCorrupt) {
  MadeMetadata made;
  fill(made);
  GetParam().apply(made);
  const TokenizerInstance bpe(table(), made.metadata());
  EXPECT_EQ(bpe.status(), PLUMB_CORRUPT);
  EXPECT_THAT(bpe.message(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Files, BpeDamage,
    testing::Values(
        Damage{"no_tokens", [](MadeMetadata& m) { m.remove("tokenizer.ggml.tokens"); },
               "tokens: missing"},
        Damage{"empty_tokens", [](MadeMetadata& m) { m.strings("tokenizer.ggml.tokens", {}); },
               "tokens: missing"},
        Damage{"tokens_of_another_type",
               [](MadeMetadata& m) { m.integers("tokenizer.ggml.tokens", {1}); },
               "array of strings expected"},
        Damage{"absurd_count",
               [](MadeMetadata& m) {
                 m.array("tokenizer.ggml.tokens", PLUMB_VALUE_STR_ARRAY, &m, uint64_t{1} << 60);
               },
               "elements"},
        Damage{"duplicate_token",
               [](MadeMetadata& m) {
                 auto all = tokens();
                 all[kHole] = "ab";
                 m.strings("tokenizer.ggml.tokens", all);
               },
               "256 and 263 are the same"},
        Damage{"types_too_short",
               [](MadeMetadata& m) {
                 m.integers("tokenizer.ggml.token_type", {1, 1});
               },
               "2 elements for 264"},
        Damage{"types_of_another_type",
               [](MadeMetadata& m) { m.floats("tokenizer.ggml.token_type", {1}); },
               "array of i32 expected"},
        Damage{"no_merges", [](MadeMetadata& m) { m.remove("tokenizer.ggml.merges"); },
               "merges: missing"},
        Damage{"merge_without_space",
               [](MadeMetadata& m) {
                 m.strings("tokenizer.ggml.merges", {"a b", "ab"});
               },
               "merge 1 is not two tokens"},
        Damage{"empty_merge", [](MadeMetadata& m) { m.strings("tokenizer.ggml.merges", {""}); },
               "merge 0"},
        Damage{"merge_of_unknown",
               [](MadeMetadata& m) { m.strings("tokenizer.ggml.merges", {"zz b"}); }, "merge 0"},
        Damage{"merge_into_unknown",
               [](MadeMetadata& m) { m.strings("tokenizer.ggml.merges", {"z b"}); }, "merge 0"},
        Damage{"eos_is_text", [](MadeMetadata& m) { m.text("tokenizer.ggml.eos_token_id", "2"); },
               "integer expected"},
        Damage{"add_bos_is_number",
               [](MadeMetadata& m) { m.integer("tokenizer.ggml.add_bos_token", 1); },
               "boolean expected"},
        Damage{"pre_is_number", [](MadeMetadata& m) { m.integer("tokenizer.ggml.pre", 1); },
               "string expected"}),
    [](const auto& one) { return std::string(one.param.name); });

/// Files that llama.cpp reads, and so do we.
TEST(GgufTokenizer, ToleratesWhatDoesNoHarm) {
  MadeMetadata made;
  fill(made);
  auto all = tokens();
  all[kHole] = "";
  all[kAbc] = std::string("nul\0byte", 8);
  auto kinds = types();
  kinds[kAb] = 77;
  kinds[kBc] = -5;
  made.strings("tokenizer.ggml.tokens", all)
      .integers("tokenizer.ggml.token_type", kinds)
      .strings("tokenizer.ggml.merges", {"a b", "a b"})
      .integer("tokenizer.ggml.bos_token_id", 1u << 31)
      .integer("tokenizer.ggml.padding_token_id", ~uint64_t{0});
  const TokenizerInstance bpe(table(), made.metadata());
  ASSERT_EQ(bpe.status(), PLUMB_OK) << bpe.message();
  EXPECT_EQ(bpe.info().bos_id, -1);
  EXPECT_EQ(bpe.info().padding_id, -1);
  EXPECT_EQ(bpe.piece(kHole), "");
  EXPECT_EQ(bpe.piece(kAbc).size(), 8u);
  EXPECT_EQ(bpe.attributes(kHole), PLUMB_TOKEN_UNUSED);
  EXPECT_THAT(bpe.ids("ab"), ElementsAre(kAb));
}

/// Cut at such a literal, a text would go on in the middle of a character.
TEST(GgufTokenizer, ALiteralThatIsNoUtf8IsInNoText) {
  for (const char* pre : {"gpt-2", "qwen2", "deepseek-v3"}) {
    for (const char* literal : {"\xC3", "\xA9", "\xE2\x82", "a\xC3"}) {
      MadeMetadata made;
      fill(made, pre);
      auto all = tokens();
      all[kBold] = literal;
      made.strings("tokenizer.ggml.tokens", all);
      const TokenizerInstance bpe(table(), made.metadata());
      ASSERT_EQ(bpe.status(), PLUMB_OK) << bpe.message();
      const std::vector<char> text = {'a', '\xC3', '\xA9'};  // nothing behind it
      EXPECT_THAT(bpe.ids({text.data(), text.size()}), ElementsAre('a', 0xC3, 0xA9));
      EXPECT_EQ(bpe.piece(kBold), literal);
    }
  }
}

TEST(GgufTokenizer, HasNoOptions) {
  MadeMetadata made;
  fill(made);
  void* self = nullptr;
  EXPECT_EQ(table().create(nullptr, &made.metadata(), to_abi(R"({"nfc": true})"), &self, nullptr),
            PLUMB_INVALID_CONFIG);
  EXPECT_EQ(self, nullptr);
}

}  // namespace
}  // namespace plumbline::tokenizers::hf
