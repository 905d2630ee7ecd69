// Oracle: the definition itself, written naively. A maximal subpart is the longest beginning of
// some well-formed sequence, or one byte; what is well-formed is decided by computing the code
// point and its shortest encoding.
#include <gtest/gtest.h>

#include <random>

#include "plumb/sdk/utf8.h"

namespace plumbline {
namespace {

bool is_scalar(char32_t c) {
  return c <= 0x10FFFF && !(c >= 0xD800 && c <= 0xDFFF);
}

uint32_t encoded_bytes(char32_t c) {
  return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
}

uint32_t promised_bytes(uint8_t lead) {
  return lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 0;
}

/// Could these bytes begin a well-formed sequence? Fills the rest with the lowest and highest
/// continuations and asks whether a scalar value that needs this very length lies between.
bool begins_well_formed(std::string_view bytes) {
  const uint32_t n = promised_bytes(static_cast<uint8_t>(bytes[0]));
  if (n == 0 || bytes.size() > n) return false;
  char32_t low = static_cast<uint8_t>(bytes[0]) & (n == 1 ? 0x7F : 0x7F >> n);
  char32_t high = low;
  for (uint32_t i = 1; i < n; ++i) {
    if (i < bytes.size()) {
      if (!utf8::is_continuation(bytes[i])) return false;
      low = high = low << 6 | (static_cast<uint8_t>(bytes[i]) & 0x3F);
      if (i + 1 < bytes.size()) continue;
    } else {
      low = low << 6;
      high = high << 6 | 0x3F;
    }
  }
  for (const char32_t c :
       {low, high, char32_t{0x80}, char32_t{0x7FF}, char32_t{0x800}, char32_t{0xD7FF},
        char32_t{0xE000}, char32_t{0xFFFF}, char32_t{0x10000}, char32_t{0x10FFFF}}) {
    if (c >= low && c <= high && is_scalar(c) && encoded_bytes(c) == n) return true;
  }
  return false;
}

std::string naive_lossy(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t n = 0;
    while (at + n < text.size() && begins_well_formed(text.substr(at, n + 1))) ++n;
    if (n == promised_bytes(static_cast<uint8_t>(text[at])) && n > 0) {
      out.append(text.substr(at, n));
      at += n;
    } else {
      out.append("\xEF\xBF\xBD");
      at += std::max<size_t>(n, 1);
    }
  }
  return out;
}

/// Bytes that sit at the borders of the well-formed ranges.
std::string random_bytes(std::mt19937& random, size_t n) {
  static constexpr uint8_t kInteresting[] = {0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0,
                                             0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC,
                                             0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0xFF};
  std::string out;
  for (size_t i = 0; i < n; ++i)
    out.push_back(static_cast<char>(kInteresting[random() % std::size(kInteresting)]));
  return out;
}

TEST(Utf8, LossyIsTheDefinition) {
  std::mt19937 random(1);
  for (int round = 0; round < 200000; ++round) {
    const std::string text = random_bytes(random, random() % 9);
    ASSERT_EQ(utf8::to_lossy(text), naive_lossy(text)) << testing::PrintToString(text);
  }
}

TEST(Utf8, EveryScalarValueComesBack) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (!is_scalar(c)) continue;
    std::string text;
    utf8::append(text, c);
    const utf8::Decoded decoded = utf8::decode(text, 0);
    ASSERT_EQ(decoded.code_point, c);
    ASSERT_EQ(decoded.n_bytes, text.size());
    ASSERT_EQ(decoded.form, utf8::Form::kWellFormed);
  }
}

/// The Unicode Standard 15, tables 3-8 to 3-11: the standard's own examples of substitution.
TEST(Utf8, ReplacesAsTheStandardShows) {
  const std::string r = "\xEF\xBF\xBD";
  EXPECT_EQ(utf8::to_lossy("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"),
            r + r + r + r + r + r + r + r + "A");
  EXPECT_EQ(utf8::to_lossy("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"),
            r + r + r + r + r + r + r + r + "A");
  EXPECT_EQ(utf8::to_lossy("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"),
            r + r + r + r + r + "A" + r + r + "B");
  EXPECT_EQ(utf8::to_lossy("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), r + r + r + r + "A");
  EXPECT_EQ(utf8::to_lossy("\xE4\xB8\x41"), r + "A");
}

TEST(Utf8Stream, AnyCutGivesTheSameText) {
  std::mt19937 random(2);
  for (int round = 0; round < 100000; ++round) {
    const std::string text = random_bytes(random, random() % 24);
    Utf8Stream stream;
    std::string out;
    for (size_t at = 0; at < text.size();) {
      const size_t n = std::min<size_t>(random() % 4, text.size() - at);
      stream.feed(std::string_view(text).substr(at, n), out);
      ASSERT_TRUE(utf8::is_well_formed(out));
      ASSERT_LT(stream.n_pending_bytes(), 4u);
      at += n;
    }
    stream.flush(out);
    ASSERT_EQ(out, utf8::to_lossy(text)) << testing::PrintToString(text);
    ASSERT_EQ(stream.n_pending_bytes(), 0u);
  }
}

TEST(Utf8Stream, HoldsBackAnUnfinishedCharacter) {
  Utf8Stream stream;
  std::string out;
  stream.feed("hi \xF0\x9F", out);
  EXPECT_EQ(out, "hi ");
  stream.feed("\xA6", out);
  EXPECT_EQ(out, "hi ");
  stream.feed("\x99!", out);
  EXPECT_EQ(out, "hi \xF0\x9F\xA6\x99!");
}

}  // namespace
}  // namespace plumbline
