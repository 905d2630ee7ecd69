// The two sections as their format is written down: the ids of "the" are the format's own example,
// the ids of bytes are the bytes. Broken sections are made from a good one, one number at a time.
#include "plugins/tokenizers/slm/slm_tokenizer.h"

#include <gmock/gmock.h>

#include "tests/support/made_metadata.h"
#include "tests/support/tokenizer_instance.h"

namespace plumbline::tokenizers::slm {
namespace {

using test::MadeMetadata;
using test::TokenizerInstance;
using testing::ElementsAre;
using testing::HasSubstr;

const plumb_tokenizer& table() {
  return *tokenizer::TokenizerTable<SlmTokenizer>::get();
}

std::string numbers(std::initializer_list<uint32_t> values) {
  std::string out;
  for (const uint32_t value : values) {
    for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<char>(value >> shift));
  }
  return out;
}

std::string btok() {
  return "BTOK" + numbers({1, 260, 256, 257, 258, 259});
}

struct Bpe1 {
  uint32_t version = 1;
  uint32_t n_vocab = 262;
  std::string roles = numbers({256, 257, 258, 259});
  std::string counts = numbers({2, 2});
  std::string tokens = numbers({260, 2}) + "th" + numbers({261, 3}) + "the";
  std::string merges = numbers({'t', 'h', 260, 0}) + numbers({260, 'e', 261, 1});
  std::string bytes() const {
    return "BPE1" + numbers({version, n_vocab}) + roles + counts + tokens + merges;
  }
};

struct Made {
  explicit Made(const std::string& section) { metadata.text("tokenizer.slm", section); }
  MadeMetadata metadata;
};

TEST(SlmTokenizer, EveryByteIsItsOwnTokenAndNothingIsLost) {
  Made made(btok());
  const TokenizerInstance tokenizer(table(), made.metadata.metadata());
  ASSERT_EQ(tokenizer.status(), PLUMB_OK) << tokenizer.message();
  std::string text = "é\xff<|im_start|>";
  for (int byte = 0; byte < 256; ++byte) text.push_back(static_cast<char>(byte));
  const test::Encoded encoded = tokenizer.encode(text);
  ASSERT_EQ(encoded.ids.size(), text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    EXPECT_EQ(encoded.ids[i], static_cast<uint8_t>(text[i]));
    EXPECT_EQ(encoded.spans[i].begin, i);
    EXPECT_EQ(encoded.spans[i].end, i + 1);
  }
  EXPECT_EQ(tokenizer.decode(encoded.ids), text);
}

TEST(SlmTokenizer, RolesAreThoseOfTheSectionAndDecodeToNothingButUnknown) {
  Made made(btok());
  const TokenizerInstance tokenizer(table(), made.metadata.metadata());
  const plumb_tokenizer_info info = tokenizer.info();
  EXPECT_EQ(info.n_vocab, 260u);
  EXPECT_EQ(info.bos_id, 256);
  EXPECT_EQ(info.eos_id, 257);
  EXPECT_EQ(info.padding_id, 258);
  EXPECT_EQ(info.unknown_id, 259);
  EXPECT_EQ(info.add_bos, 1u);
  EXPECT_EQ(tokenizer.attributes(257), PLUMB_TOKEN_CONTROL | PLUMB_TOKEN_END);
  EXPECT_EQ(tokenizer.attributes(260), PLUMB_TOKEN_UNUSED);
  EXPECT_EQ(tokenizer.decode({256, 'a', 258, 259, 257}), "a?");
}

TEST(SlmTokenizer, MergesByRankFirst) {
  Made made(Bpe1().bytes());
  const TokenizerInstance tokenizer(table(), made.metadata.metadata());
  ASSERT_EQ(tokenizer.status(), PLUMB_OK) << tokenizer.message();
  EXPECT_THAT(tokenizer.encode("the").ids, ElementsAre(261));
  EXPECT_THAT(tokenizer.encode("thhe").ids, ElementsAre(260, 'h', 'e'));
  EXPECT_EQ(tokenizer.decode({261, 260}), "theth");
}

TEST(SlmTokenizer, AtEqualRankTheLeftmostPairIsMerged) {
  Bpe1 section;
  section.tokens = numbers({260, 2}) + "aa" + numbers({261, 2}) + "ab";
  section.merges = numbers({'a', 'a', 260, 7}) + numbers({'a', 'b', 261, 7});
  Made made(section.bytes());
  const TokenizerInstance tokenizer(table(), made.metadata.metadata());
  EXPECT_THAT(tokenizer.encode("aaab").ids, ElementsAre(260, 261));
  EXPECT_THAT(tokenizer.encode("aab").ids, ElementsAre(260, 'b'));
}

TEST(SlmTokenizer, AnUndeclaredIdIsUnused) {
  Bpe1 section;
  section.n_vocab = 270;
  Made made(section.bytes());
  const TokenizerInstance tokenizer(table(), made.metadata.metadata());
  ASSERT_EQ(tokenizer.status(), PLUMB_OK) << tokenizer.message();
  EXPECT_EQ(tokenizer.attributes(265), PLUMB_TOKEN_UNUSED);
}

TEST(SlmTokenizer, OtherFilesAreNotItsOwn) {
  MadeMetadata none;
  EXPECT_EQ(TokenizerInstance(table(), none.metadata()).status(), PLUMB_UNSUPPORTED);
  Made other("BPE9aaaaaaaa");
  EXPECT_EQ(TokenizerInstance(table(), other.metadata.metadata()).status(), PLUMB_UNSUPPORTED);
}

struct BrokenCase {
  const char* what;
  std::string bytes;
  const char* message;
};

std::vector<BrokenCase> broken_cases() {
  std::vector<BrokenCase> cases;
  const auto add = [&](const char* message, const char* what, auto&& change) {
    Bpe1 section;
    change(section);
    cases.push_back({what, section.bytes(), message});
  };
  add("version 2", "version", [](Bpe1& s) { s.version = 2; });
  add("4294967295 tokens", "absurd vocabulary", [](Bpe1& s) { s.n_vocab = 0xffffffffu; });
  add("259 tokens", "small vocabulary", [](Bpe1& s) { s.n_vocab = 259; });
  add("four different ids", "roles", [](Bpe1& s) { s.roles = numbers({256, 256, 258, 259}); });
  add("four different ids", "byte as role", [](Bpe1& s) {
    s.roles = numbers({97, 257, 258, 259});
  });
  add("declared twice", "duplicate id", [](Bpe1& s) {
    s.tokens = numbers({260, 2}) + "th" + numbers({260, 3}) + "the";
  });
  add("has no bytes", "empty token", [](Bpe1& s) {
    s.tokens = numbers({260, 0}) + numbers({261, 3}) + "the";
  });
  add("has the id 262", "id out of range", [](Bpe1& s) {
    s.tokens = numbers({262, 2}) + "th" + numbers({261, 3}) + "the";
  });
  add("has the id 65", "byte declared", [](Bpe1& s) {
    s.tokens = numbers({65, 2}) + "th" + numbers({261, 3}) + "the";
  });
  add("34 are left", "token over the end", [](Bpe1& s) {
    s.tokens = numbers({260, 0xfffffff0u}) + "th";
  });
  add("merges of 16 bytes", "absurd number of merges", [](Bpe1& s) {
    s.counts = numbers({2, 0x10000000u});
  });
  add("a token's", "absurd number of tokens", [](Bpe1& s) {
    s.counts = numbers({0xffffffffu, 0});
    s.merges.clear();
  });
  add("no token 300", "merge without token", [](Bpe1& s) {
    s.counts = numbers({2, 1});
    s.merges = numbers({'t', 'h', 300, 0});
  });
  add("no token 256", "merge of BOS", [](Bpe1& s) {
    s.counts = numbers({2, 1});
    s.merges = numbers({256, 'h', 260, 0});
  });
  add("other bytes", "merge into another token", [](Bpe1& s) {
    s.counts = numbers({2, 1});
    s.merges = numbers({'t', 'h', 261, 0});
  });
  add("has a merge already", "pair twice", [](Bpe1& s) {
    s.merges = numbers({'t', 'h', 260, 0}) + numbers({'t', 'h', 260, 1});
  });
  add("behind the section's end", "trailing bytes", [](Bpe1& s) { s.merges += "x"; });
  cases.push_back({"BTOK with more tokens", "BTOK" + numbers({1, 300, 256, 257, 258, 259}),
                   "BTOK has 260 tokens"});
  cases.push_back({"BTOK with a tail", btok() + "x", "behind the section's end"});
  return cases;
}

TEST(SlmTokenizer, ABrokenSectionIsSaidToBe) {
  for (const BrokenCase& broken : broken_cases()) {
    Made made(broken.bytes);
    const TokenizerInstance tokenizer(table(), made.metadata.metadata());
    EXPECT_EQ(tokenizer.status(), PLUMB_CORRUPT) << broken.what;
    EXPECT_THAT(tokenizer.message(), HasSubstr(broken.message)) << broken.what;
  }
}

TEST(SlmTokenizer, EveryTruncationIsCorruptOrNotItsOwn) {
  const std::string whole = Bpe1().bytes();
  for (size_t n = 0; n < whole.size(); ++n) {
    Made made(whole.substr(0, n));
    const TokenizerInstance tokenizer(table(), made.metadata.metadata());
    EXPECT_EQ(tokenizer.status(), n < 4 ? PLUMB_UNSUPPORTED : PLUMB_CORRUPT) << n;
  }
}

TEST(SlmTokenizer, AMillionEqualBytesAreMergedInOrder) {
  Bpe1 section;
  section.tokens = numbers({260, 2}) + "aa" + numbers({261, 4}) + "aaaa";
  section.merges = numbers({'a', 'a', 260, 0}) + numbers({260, 260, 261, 1});
  Made made(section.bytes());
  const TokenizerInstance tokenizer(table(), made.metadata.metadata());
  EXPECT_EQ(tokenizer.encode(std::string(1'000'001, 'a')).ids, [] {
    std::vector<int32_t> expected(250'000, 261);
    expected.push_back('a');
    return expected;
  }());
}

}  // namespace
}  // namespace plumbline::tokenizers::slm
