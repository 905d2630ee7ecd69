// SentencePiece .model files: ids and texts of SentencePiece itself (golden/made_sentencepiece),
// and files that are broken.
#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "plugins/tokenizers/hf/tokenizer.h"
#include "tests/support/golden_cases.h"
#include "tests/support/made_metadata.h"
#include "tests/support/tokenizer_instance.h"

namespace plumbline::tokenizers::hf {
namespace {

using nlohmann::json;
using test::MadeMetadata;
using test::TokenizerInstance;
using testing::ElementsAre;
using testing::HasSubstr;

/// A tokenizer out of the bytes of a .model file.
struct FromModel {
  MadeMetadata made;
  std::unique_ptr<TokenizerInstance> instance;

  explicit FromModel(const std::string& bytes) {
    made.text("tokenizer.sentencepiece.model", bytes);
    instance = std::make_unique<TokenizerInstance>(*tokenizer::TokenizerTable<Tokenizer>::get(),
                                                   made.metadata());
  }
  const TokenizerInstance* operator->() const { return instance.get(); }
};

std::string golden_model(const std::string& name) {
  std::ifstream file(test::golden_path("made_sentencepiece/" + name + ".model"), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A writer of the protobuf fields that a .model has.

std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  return out + static_cast<char>(value);
}
std::string number(uint32_t id, uint64_t value) {
  return varint(uint64_t{id} << 3) + varint(value);
}
std::string bytes(uint32_t id, const std::string& value) {
  return varint(uint64_t{id} << 3 | 2) + varint(value.size()) + value;
}
std::string four_bytes(uint32_t id, float value) {
  std::string out = varint(uint64_t{id} << 3 | 5);
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  for (uint32_t shift = 0; shift < 32; shift += 8) out.push_back(static_cast<char>(bits >> shift));
  return out;
}
enum Kind : uint8_t { kNormal = 1, kUnknown, kControl, kUserDefined, kUnused, kByte };
std::string piece(const std::string& text, float score = 0, Kind kind = kNormal) {
  return bytes(1, bytes(1, text) + four_bytes(2, score) + number(3, kind));
}
/// <unk> <s> ▁ a b ab
std::string small() {
  return piece("<unk>", 0, kUnknown) + piece("<s>", 0, kControl) + piece("\u2581", -1) +
         piece("a", -2) + piece("b", -3) + piece("ab", -4);
}
std::string bpe() {
  return bytes(2, number(3, 2));
}

class Models : public testing::TestWithParam<const char*> {
 protected:
  static std::string text_of(const TokenizerInstance& tokenizer, const std::vector<int32_t>& ids,
                             bool strips_all) {
    std::string text;
    for (size_t i = 0; i < ids.size(); ++i)
      text += tokenizer.piece(ids[i], strips_all ? text.empty() : i == 0);
    return text;
  }
};

TEST_P(Models, AreTheReferences) {
  const std::string name = GetParam();
  const FromModel tokenizer(golden_model(name));
  ASSERT_EQ(tokenizer->status(), PLUMB_OK) << tokenizer->message();
  const auto lines = test::read_jsonl(test::golden_path("made_sentencepiece/" + name + ".jsonl"));
  ASSERT_GE(lines.size(), 400u);
  const plumb_tokenizer_info info = tokenizer->info();
  const json roles = {{"n_vocab", info.n_vocab},
                      {"bos", info.bos_id},
                      {"eos", info.eos_id},
                      {"unknown", info.unknown_id},
                      {"padding", info.padding_id}};
  EXPECT_EQ(roles, lines[0]);
  // Where white space is cleaned, SentencePiece drops it until the text has begun.
  const bool strips_all = name != "bpe-unused";
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::vector<int32_t> ids = lines[i]["ids"];
    EXPECT_EQ(tokenizer->ids(lines[i]["text"].get<std::string>(), PLUMB_SPECIAL_OFF), ids)
        << lines[i];
    EXPECT_EQ(text_of(*tokenizer.instance, ids, strips_all), lines[i]["reads"].get<std::string>())
        << lines[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, Models,
                         testing::Values("unigram", "unigram-bytes", "bpe-bytes", "bpe-exact",
                                         "bpe-unused"),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(SentencePiece, ControlLiteralsAreParsedWhereAskedFor) {
  for (const std::string& model : {small(), small() + bpe()}) {
    const FromModel tokenizer(model);
    ASSERT_EQ(tokenizer->status(), PLUMB_OK) << tokenizer->message();
    EXPECT_THAT(tokenizer->ids("ab<s>", PLUMB_SPECIAL_PARSE), ElementsAre(2, 5, 1));
    EXPECT_THAT(tokenizer->ids("ab<s>", PLUMB_SPECIAL_OFF), ElementsAre(2, 5, 0));
    EXPECT_THAT(tokenizer->ids("<unk>", PLUMB_SPECIAL_OFF), ElementsAre(2, 0));
    EXPECT_EQ(tokenizer->attributes(1), PLUMB_TOKEN_CONTROL);
    EXPECT_EQ(tokenizer->piece(0), " \u2047 ");
    EXPECT_EQ(tokenizer->piece(2, true), "");
    EXPECT_EQ(tokenizer->piece(2), " ");
  }
}

TEST(SentencePiece, SpansAreThoseOfTheSource) {
  const FromModel tokenizer(small());
  const test::Encoded encoded = tokenizer->encode(
      "  ab   \xFF"
      "a ");
  EXPECT_THAT(encoded.ids, ElementsAre(2, 5, 2, 0, 3));
  const std::vector<std::pair<uint64_t, uint64_t>> expected = {
      {2, 2}, {2, 4}, {4, 5}, {7, 8}, {8, 9}};
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(encoded.spans[i].begin, expected[i].first) << i;
    EXPECT_EQ(encoded.spans[i].end, expected[i].second) << i;
  }
}

TEST(SentencePiece, BarredTokensAreAsIfTheyWereNotThere) {
  for (const std::string& model : {small(), small() + bpe()}) {
    const FromModel tokenizer(model);
    const uint64_t barred = uint64_t{1} << 5 | uint64_t{1} << 1;
    const plumb_span untrusted = {0, 5};
    auto request = make_abi<plumb_encode_request>();
    request.special = PLUMB_SPECIAL_PARSE;
    request.text = {"<s>ab", 5};
    request.untrusted = &untrusted;
    request.n_untrusted = 1;
    request.barred_bits = &barred;
    std::vector<int32_t> ids(32);
    auto result = make_abi<plumb_encode_result>();
    result.ids = ids.data();
    result.capacity = ids.size();
    ASSERT_EQ(tokenizer->table().encode(tokenizer->self(), &request, &result, nullptr), PLUMB_OK);
    ids.resize(result.n);
    EXPECT_THAT(ids, ElementsAre(2, 0, 3, 4));
  }
}

TEST(SentencePiece, UnknownFieldsArePassedOver) {
  const FromModel tokenizer(number(90, 1) + small() + bytes(4, "\xFF") + four_bytes(91, 1) +
                            varint(uint64_t{92} << 3 | 1) + "12345678");
  ASSERT_EQ(tokenizer->status(), PLUMB_OK) << tokenizer->message();
  EXPECT_THAT(tokenizer->ids("ab"), ElementsAre(2, 5));
}

struct Damage {
  const char* name;
  std::string bytes;
  plumb_status status;
  const char* message;
};

class ModelDamage : public testing::TestWithParam<Damage> {};

TEST_P(ModelDamage, IsSaid) {
  const FromModel tokenizer(GetParam().bytes);
  EXPECT_EQ(tokenizer->status(), GetParam().status);
  EXPECT_THAT(tokenizer->message(), HasSubstr(GetParam().message));
  EXPECT_THAT(tokenizer->message(), HasSubstr("tokenizer.sentencepiece.model: "));
}

const std::string kEndless(11, '\xFF');

INSTANTIATE_TEST_SUITE_P(
    Files, ModelDamage,
    testing::Values(
        Damage{"empty", "", PLUMB_CORRUPT, "no piece is the unknown one"},
        Damage{"no_unknown", piece("a"), PLUMB_CORRUPT, "no piece is the unknown one"},
        Damage{"unknown_twice", small() + piece("<u>", 0, kUnknown), PLUMB_CORRUPT,
               "piece 6: a second unknown piece, the first is 0"},
        Damage{"twins", small() + piece("a"), PLUMB_CORRUPT, "piece 6: the same as piece 3"},
        Damage{"control_twin", small() + piece("a", 0, kControl), PLUMB_CORRUPT,
               "piece 6: the same as piece 3"},
        Damage{"empty_piece", small() + piece(""), PLUMB_CORRUPT, "piece 6: empty"},
        Damage{"zero_in_piece", small() + piece(std::string("a\0", 2)), PLUMB_CORRUPT,
               "piece 6: has a zero byte"},
        Damage{"piece_is_no_text", small() + piece("\xC3"), PLUMB_CORRUPT, "piece 6: no UTF-8"},
        Damage{"long_piece", small() + piece(std::string(5000, 'x')), PLUMB_CORRUPT,
               "piece 6: 5000 bytes, at most 1024"},
        Damage{"score_is_nan", small() + piece("x", std::bit_cast<float>(0x7FC00000u)),
               PLUMB_CORRUPT, "piece 6: its score is no finite number"},
        Damage{"piece_type", small() + bytes(1, bytes(1, "x") + number(3, 9)), PLUMB_CORRUPT,
               "a piece of type 9"},
        Damage{"byte_without_fallback", small() + piece("<0x00>", 0, kByte), PLUMB_CORRUPT,
               "piece 6: a byte piece, but trainer_spec.byte_fallback is not set"},
        Damage{"fallback_without_bytes",
               small() + piece("<0x00>", 0, kByte) + bytes(2, number(35, 1)), PLUMB_CORRUPT,
               "1 byte pieces, 256 expected"},
        Damage{"byte_is_none", small() + piece("<0xZZ>", 0, kByte) + bytes(2, number(35, 1)),
               PLUMB_CORRUPT, "piece 6: a new byte as <0xNN> expected"},
        Damage{"word", small() + bytes(2, number(3, 3)), PLUMB_UNSUPPORTED, "model_type is WORD"},
        Damage{"char", small() + bytes(2, number(3, 4)), PLUMB_UNSUPPORTED, "model_type is CHAR"},
        Damage{"type_7", small() + bytes(2, number(3, 7)), PLUMB_UNSUPPORTED, "model_type is 7"},
        Damage{"suffix", small() + bytes(2, number(24, 1)), PLUMB_UNSUPPORTED,
               "treat_whitespace_as_suffix"},
        Damage{"denormalizer", small() + bytes(5, bytes(2, "x")), PLUMB_UNSUPPORTED,
               "denormalizer_spec.precompiled_charsmap"},
        Damage{"charsmap", small() + bytes(3, bytes(2, "\xFF\xFF\xFF\xFF")), PLUMB_CORRUPT,
               "normalizer_spec.precompiled_charsmap"},
        Damage{"length_absurd", small() + varint(1 << 3 | 2) + varint(~uint64_t{0}), PLUMB_CORRUPT,
               "18446744073709551615 bytes expected, 0 left"},
        Damage{"number_absurd", kEndless, PLUMB_CORRUPT, "a number of more than ten bytes"},
        Damage{"number_cut", "\x80", PLUMB_CORRUPT, "byte 0: a number that does not end"},
        Damage{"group", "\x0B", PLUMB_CORRUPT, "byte 0: wire type 3"},
        Damage{"no_field", std::string(2, '\0'), PLUMB_CORRUPT, "a field without a number"},
        Damage{"wire_type", small() + number(1, 1), PLUMB_CORRUPT,
               "field 1 has wire type 0, 2 expected"}),
    [](const auto& one) { return std::string(one.param.name); });

/// Whatever came out of a broken file, it must answer.
void expect_sound(const std::string& model) {
  const FromModel tokenizer(model);
  if (tokenizer->status() != PLUMB_OK) return;
  tokenizer->ids(" the  valley\u2581 <tool>\xFF\xE4\xB8\xAD <0x41> ");
  EXPECT_LT(tokenizer->info().unknown_id, static_cast<int32_t>(tokenizer->info().n_vocab));
  tokenizer->piece(tokenizer->info().unknown_id, true);
}

TEST(SentencePiece, EveryPrefixOfAFile) {
  const std::string whole = golden_model("bpe-unused");
  for (size_t n = 0; n < whole.size(); ++n) expect_sound(whole.substr(0, n));
}

TEST(SentencePiece, EveryByteWrong) {
  for (const char* name : {"bpe-unused", "unigram-bytes"}) {
    const std::string whole = golden_model(name);
    ASSERT_GT(whole.size(), 3000u);
    for (size_t at = 0; at < whole.size(); ++at) {
      for (const int flip : {0x01, 0x80, 0xFF}) {
        std::string broken = whole;
        broken[at] = static_cast<char>(broken[at] ^ flip);
        expect_sound(broken);
      }
    }
  }
}

/// The bytes of a character map that are its trie's head and first units, and some of its text.
TEST(SentencePiece, BrokenCharacterMaps) {
  const std::string whole = golden_model("unigram");
  const size_t begin = whole.size() - 240000;
  for (size_t i = 0; i < 400; ++i) {
    std::string broken = whole;
    for (size_t at = begin + i; at < whole.size(); at += 397)
      broken[at] = static_cast<char>(broken[at] ^ 0x55);
    expect_sound(broken);
  }
}

/// Quadratic work would not end.
TEST(SentencePiece, ALongText) {
  for (const char* name : {"unigram", "unigram-bytes", "bpe-bytes", "bpe-unused"}) {
    const FromModel tokenizer(golden_model(name));
    for (const char* unit : {"a", " ", "\u2581", "\u0301", "<tool", "the "}) {
      std::string text;
      while (text.size() < 300000) text += unit;
      tokenizer->ids(text);
    }
  }
}

}  // namespace
}  // namespace plumbline::tokenizers::hf
