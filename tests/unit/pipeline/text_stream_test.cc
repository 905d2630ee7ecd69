// The bytes of tokens -> text. Oracles: utf8::to_lossy, the rules of the profiles written naively,
// and the DecodeStream of the tokenizers library (golden/cases).
#include "core/pipeline/text_stream.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/support/golden_cases.h"
#include "tests/support/pulled_model.h"
#include "tests/unit/pipeline/tiny_world.h"

namespace plumbline::test {
namespace {

using pipeline::IllFormed;
using pipeline::TextStream;

constexpr const char* kReplacement = "\uFFFD";

struct Token {
  std::string bytes;
  bool is_byte;
};

/// A token list that likes broken and interrupted characters.
std::vector<Token> random_tokens(std::mt19937& random) {
  static const std::string kTexts[] = {"a",    " b",       "世",       "🦙",
                                       "\xE4", "\xB8\x96", "\xF0\x9F", "\xFF"};
  std::vector<Token> tokens(random() % 12);
  for (Token& token : tokens) {
    token.is_byte = random() % 2 == 0;
    token.bytes = token.is_byte ? std::string(1, "\xE4\xB8\x96\xF0\x9F\xFFz"[random() % 7])
                                : kTexts[random() % std::size(kTexts)];
  }
  return tokens;
}

/// By the rules' own words, over all tokens at once.
std::string naive(const std::vector<Token>& tokens, IllFormed profile) {
  std::string all, out;
  if (profile != IllFormed::kByteRun) {
    for (const Token& token : tokens) all += token.bytes;
    if (profile == IllFormed::kMaximalSubpart) return utf8::to_lossy(all);
    while (!all.empty()) {
      const utf8::Decoded next = utf8::decode(all, 0);
      const bool is_good = next.form == utf8::Form::kWellFormed;
      out += is_good ? all.substr(0, next.n_bytes) : kReplacement;
      all.erase(0, is_good ? next.n_bytes : 1);
    }
    return out;
  }
  for (size_t i = 0; i < tokens.size();) {
    std::string run;
    const bool is_byte = tokens[i].is_byte;
    for (; i < tokens.size() && tokens[i].is_byte == is_byte; ++i) run += tokens[i].bytes;
    if (!is_byte || utf8::is_well_formed(run)) {
      out += utf8::to_lossy(run);
    } else {
      for (size_t n = 0; n < run.size(); ++n) out += kReplacement;
    }
  }
  return out;
}

TEST(TextStream, IsTheTextOfAllTokensAtOnce) {
  std::mt19937 random(6);
  for (int i = 0; i < 20000; ++i) {
    const std::vector<Token> tokens = random_tokens(random);
    for (const IllFormed profile :
         {IllFormed::kMaximalSubpart, IllFormed::kSeed004, IllFormed::kByteRun}) {
      TextStream stream(profile);
      std::string out;
      for (const Token& token : tokens) {
        // Tokens come in pieces where a stop string held a part of them back.
        const size_t cut = random() % (token.bytes.size() + 1);
        stream.feed(token.bytes.substr(0, cut), token.is_byte, out);
        stream.feed(token.bytes.substr(cut), token.is_byte, out);
        EXPECT_TRUE(utf8::is_well_formed(out));
      }
      stream.flush(out);
      ASSERT_EQ(out, naive(tokens, profile)) << static_cast<int>(profile);
    }
  }
}

TEST(TextStream, OneErrorUnderEachProfile) {
  const auto text = [](IllFormed profile, bool is_byte) {
    TextStream stream(profile);
    std::string out;
    for (const char byte : std::string("\xE4\xB8\x41")) stream.feed({&byte, 1}, is_byte, out);
    stream.flush(out);
    return out;
  };
  EXPECT_EQ(text(IllFormed::kMaximalSubpart, true), "\uFFFDA");
  EXPECT_EQ(text(IllFormed::kSeed004, true), "\uFFFD\uFFFDA");
  EXPECT_EQ(text(IllFormed::kByteRun, true), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(text(IllFormed::kByteRun, false), "\uFFFDA");
}

TEST(TextStream, RandomIdsOfARealVocabulary) {
  const auto made = tiny_world({});
  const pipeline::Tokenizer& tokenizer = **made->tokenizer();
  std::mt19937 random(9);
  for (int i = 0; i < 300; ++i) {
    std::vector<int32_t> ids(random() % 40);
    for (int32_t& id : ids) id = static_cast<int32_t>(random() % tokenizer.info().n_vocab);
    TextStream stream(IllFormed::kMaximalSubpart);
    std::string out;
    for (size_t k = 0; k < ids.size(); ++k)
      stream.feed(*tokenizer.piece(ids[k], k == 0), false, out);
    stream.flush(out);
    const auto once = pipeline::decode_text(tokenizer, ids, IllFormed::kMaximalSubpart);
    ASSERT_TRUE(once);
    EXPECT_EQ(out, *once);
    EXPECT_EQ(out, utf8::to_lossy(*tokenizer.decode(ids)));
  }
}

}  // namespace
}  // namespace plumbline::test
