// A vocabulary small enough to merge by hand, and files that are broken. Ids that need a reference
// are checked in tokenizer_tiny_models_test.cc.
#include "plugins/tokenizers/spm/spm_tokenizer.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "tests/support/made_metadata.h"
#include "tests/support/tokenizer_instance.h"

namespace plumbline::tokenizers::spm {
namespace {

using test::Encoded;
using test::MadeMetadata;
using test::TokenizerInstance;
using testing::ElementsAre;
using testing::HasSubstr;

const plumb_tokenizer& table() {
  return *tokenizer::TokenizerTable<SpmTokenizer>::get();
}

constexpr int32_t kUnknown = 0, kBos = 1, kEos = 2, kByte = 3;
constexpr int32_t kSpace = 259, kA = 260, kB = 261, kC = 262, kAb = 263, kBc = 264, kSpaceA = 265,
                  kBold = 266, kTwoSpaces = 267;
constexpr int32_t kNTokens = 268;

struct Vocabulary {
  std::vector<std::string> tokens = {"<unk>", "<s>", "</s>"};
  std::vector<float> scores = {0, 0, 0};
  std::vector<int32_t> types = {2, 3, 3};

  explicit Vocabulary(bool with_bytes = true) {
    char name[8];
    for (int byte = 0; byte < 256; ++byte) {
      std::snprintf(name, sizeof name, "<0x%02X>", byte);
      add(with_bytes ? name : "unused" + std::to_string(byte), 0, with_bytes ? 6 : 5);
    }
    add("▁", -10, 1);
    add("a", -11, 1);
    add("b", -12, 1);
    add("c", -13, 1);
    add("ab", -2, 1);
    add("bc", -1, 1);
    add("▁a", -3, 1);
    add("<b>", -1000, 4);
    add("▁▁", -1000, 4);
  }
  void add(const std::string& token, float score, int32_t type) {
    tokens.push_back(token);
    scores.push_back(score);
    types.push_back(type);
  }
  void fill(MadeMetadata& made, bool space_prefix) const {
    made.text("tokenizer.ggml.model", "llama")
        .strings("tokenizer.ggml.tokens", tokens)
        .floats("tokenizer.ggml.scores", scores)
        .integers("tokenizer.ggml.token_type", types)
        .flag("tokenizer.ggml.add_space_prefix", space_prefix);
  }
};

TEST(SpmTokenizer, MergesByScore) {
  MadeMetadata made;
  Vocabulary().fill(made, false);
  const TokenizerInstance spm(table(), made.metadata());
  ASSERT_EQ(spm.status(), PLUMB_OK) << spm.message();
  EXPECT_THAT(spm.ids("abc"), ElementsAre(kA, kBc));
  EXPECT_THAT(spm.ids("ab a"), ElementsAre(kAb, kSpaceA));
  EXPECT_THAT(spm.ids(" ab"), ElementsAre(kSpace, kAb)) << "\"ab\" has the higher score";
  EXPECT_THAT(spm.ids("a▁a"), ElementsAre(kA, kSpaceA))
      << "U+2581 is how the vocabulary writes a space";
  EXPECT_TRUE(spm.ids("").empty());
}

TEST(SpmTokenizer, UserDefinedLiteralsMatchInPlainText) {
  MadeMetadata made;
  Vocabulary().fill(made, false);
  const TokenizerInstance spm(table(), made.metadata());
  for (const uint32_t special : {PLUMB_SPECIAL_OFF, PLUMB_SPECIAL_PARSE}) {
    EXPECT_THAT(spm.ids("a<b>  a", special), ElementsAre(kA, kBold, kTwoSpaces, kA));
  }
  EXPECT_THAT(spm.ids("a</s>", PLUMB_SPECIAL_PARSE), ElementsAre(kA, kEos));
  EXPECT_THAT(spm.ids("a</s>", PLUMB_SPECIAL_OFF), testing::Not(testing::Contains(kEos)));
}

TEST(SpmTokenizer, SpacePrefixOpensEachStretchOfText) {
  MadeMetadata made;
  Vocabulary().fill(made, true);
  const TokenizerInstance spm(table(), made.metadata());
  const Encoded encoded = spm.encode("a</s>b");
  EXPECT_THAT(encoded.ids, ElementsAre(kSpaceA, kEos, kSpace, kB));
  EXPECT_EQ(encoded.spans[0].begin, 0u);
  EXPECT_EQ(encoded.spans[0].end, 1u);
  EXPECT_EQ(encoded.spans[2].begin, 5u) << "a space that is not in the source has an empty span";
  EXPECT_EQ(encoded.spans[2].end, 5u);
  EXPECT_EQ(spm.piece(kSpaceA, true), "a");
  EXPECT_EQ(spm.piece(kSpaceA, false), " a");
  EXPECT_EQ(spm.info().add_bos, 1u) << "llama.cpp's default for this kind";
  EXPECT_EQ(spm.info().bos_id, kBos);
}

TEST(SpmTokenizer, UnknownCharactersBecomeBytes) {
  MadeMetadata made;
  Vocabulary().fill(made, false);
  const TokenizerInstance spm(table(), made.metadata());
  const Encoded encoded = spm.encode("a\u00e9\xFF");
  EXPECT_THAT(encoded.ids, ElementsAre(kA, kByte + 0xC3, kByte + 0xA9, kByte + 0xEF, kByte + 0xBF,
                                       kByte + 0xBD));
  EXPECT_EQ(encoded.spans[5].begin, 3u);
  EXPECT_EQ(encoded.spans[5].end, 4u);
  EXPECT_EQ(spm.piece(kByte + 0x0A), "\n");
  EXPECT_EQ(spm.attributes(kByte), PLUMB_TOKEN_BYTE);
}

TEST(SpmTokenizer, WithoutByteTokensUnknownNeighboursAreOneToken) {
  MadeMetadata made;
  Vocabulary(false).fill(made, false);
  const TokenizerInstance spm(table(), made.metadata());
  const Encoded encoded = spm.encode("xya zb");
  EXPECT_THAT(encoded.ids, ElementsAre(kUnknown, kA, kSpace, kUnknown, kB));
  EXPECT_EQ(encoded.spans[0].begin, 0u);
  EXPECT_EQ(encoded.spans[0].end, 2u);
}

TEST(SpmTokenizer, RandomBytesComeBack) {
  MadeMetadata made;
  Vocabulary().fill(made, false);
  const TokenizerInstance spm(table(), made.metadata());
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 60, ' ');
    for (char& c : text)
      c = static_cast<char>(random() % 3 == 0 ? random() % 256 : "abc <>/"[random() % 7]);
    EXPECT_EQ(spm.decode(spm.ids(text, PLUMB_SPECIAL_OFF)), utf8::to_lossy(text));
  }
}

TEST(SpmTokenizer, AMillionCharacters) {
  MadeMetadata made;
  Vocabulary().fill(made, true);
  const TokenizerInstance spm(table(), made.metadata());
  for (const char* unit : {"a", "ab", "abc", " ", "▁", "\n", "\xFF", "<b", "<b>", "</s>"}) {
    std::string text;
    while (text.size() < 1000000) text += unit;
    EXPECT_FALSE(spm.ids(text).empty());
  }
}

TEST(SpmTokenizer, RecognisesItsOwn) {
  MadeMetadata made;
  Vocabulary().fill(made, true);
  EXPECT_EQ(table().recognise(&made.metadata(), nullptr), PLUMB_OK);
  made.text("tokenizer.ggml.model", "gpt2");
  EXPECT_EQ(table().recognise(&made.metadata(), nullptr), PLUMB_UNSUPPORTED);
}

struct Damage {
  const char* name;
  void (*apply)(Vocabulary&, MadeMetadata&);
  const char* message;
};

class SpmDamage : public testing::TestWithParam<Damage> {};

TEST_P(SpmDamage, IsCorrupt) {
  MadeMetadata made;
  Vocabulary vocabulary;
  vocabulary.fill(made, true);
  GetParam().apply(vocabulary, made);
  const TokenizerInstance spm(table(), made.metadata());
  EXPECT_EQ(spm.status(), PLUMB_CORRUPT);
  EXPECT_THAT(spm.message(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Files, SpmDamage,
    testing::Values(Damage{"no_scores",
                           [](Vocabulary&, MadeMetadata& m) { m.remove("tokenizer.ggml.scores"); },
                           "0 elements"},
                    Damage{"scores_too_short",
                           [](Vocabulary&, MadeMetadata& m) {
                             m.floats("tokenizer.ggml.scores", {1, 2});
                           },
                           "2 elements for 268"},
                    Damage{"scores_of_another_type",
                           [](Vocabulary&, MadeMetadata& m) {
                             m.integers("tokenizer.ggml.scores", std::vector<int32_t>(kNTokens));
                           },
                           "array of f32 expected"},
                    Damage{"score_is_nan",
                           [](Vocabulary& v, MadeMetadata& m) {
                             v.scores[kA] = std::nanf("");
                             v.fill(m, true);
                           },
                           "element 260 is NaN"},
                    Damage{"duplicate_token",
                           [](Vocabulary& v, MadeMetadata& m) {
                             v.tokens[kBc] = "ab";
                             v.fill(m, true);
                           },
                           "263 and 264 are the same"},
                    Damage{"duplicate_literal",
                           [](Vocabulary& v, MadeMetadata& m) {
                             v.tokens[kEos] = "<s>";
                             v.fill(m, true);
                           },
                           "1 and 2 are the same literal"},
                    Damage{"duplicate_byte",
                           [](Vocabulary& v, MadeMetadata& m) {
                             v.tokens[kByte] = "<0x41>";
                             v.fill(m, true);
                           },
                           "a new byte as <0xNN> expected"},
                    Damage{"byte_without_number",
                           [](Vocabulary& v, MadeMetadata& m) {
                             v.tokens[kByte] = "<0xG0>";
                             v.fill(m, true);
                           },
                           "a new byte as <0xNN> expected"},
                    Damage{"prefix_is_number",
                           [](Vocabulary&, MadeMetadata& m) {
                             m.integer("tokenizer.ggml.add_space_prefix", 1);
                           },
                           "boolean expected"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(SpmTokenizer, NothingMakesABarredTokenOutOfUntrustedText) {
  MadeMetadata made;
  Vocabulary vocabulary;
  vocabulary.types[kAb] = 4;  // a literal, and what merging makes of "ab"
  vocabulary.tokens[kBold] = "ab>";
  vocabulary.fill(made, false);
  const TokenizerInstance spm(table(), made.metadata());
  ASSERT_EQ(spm.status(), PLUMB_OK) << spm.message();
  EXPECT_THAT(spm.ids("abab"), ElementsAre(kAb, kAb));
  EXPECT_THAT(spm.ids_with_bar("abab", {2, 4}, kAb), ElementsAre(kAb, kA, kB));
  EXPECT_THAT(spm.ids_with_bar("ab>", {2, 3}, kBold), ElementsAre(kAb, kByte + '>'))
      << "the shorter literal";
}

/// Cut at such a literal, a text would go on in the middle of a character.
TEST(SpmTokenizer, ALiteralThatIsNoUtf8IsInNoText) {
  MadeMetadata made;
  Vocabulary vocabulary;
  vocabulary.tokens[kBold] = "\xC3";
  vocabulary.fill(made, false);
  const TokenizerInstance spm(table(), made.metadata());
  ASSERT_EQ(spm.status(), PLUMB_OK) << spm.message();
  EXPECT_THAT(spm.ids("é"), ElementsAre(kByte + 0xC3, kByte + 0xA9));
}

TEST(SpmTokenizer, InfiniteScoresAndEmptyTokensDoNoHarm) {
  MadeMetadata made;
  Vocabulary vocabulary;
  vocabulary.scores[kAb] = INFINITY;
  vocabulary.scores[kBc] = -INFINITY;
  vocabulary.tokens[kBold] = "";
  vocabulary.fill(made, false);
  const TokenizerInstance spm(table(), made.metadata());
  ASSERT_EQ(spm.status(), PLUMB_OK) << spm.message();
  EXPECT_THAT(spm.ids("abc"), ElementsAre(kAb, kC));
  EXPECT_EQ(spm.piece(kBold), "");
}

}  // namespace
}  // namespace plumbline::tokenizers::spm
