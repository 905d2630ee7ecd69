// Oracle: the sequences in xterm's "Control Sequences" and the kitty keyboard protocol.
#include "core/editor/key_decoder.h"

#include <gtest/gtest.h>

#include <random>

#include "plumb/sdk/utf8.h"

namespace plumbline::editor {

std::ostream& operator<<(std::ostream& out, const Key& key) {
  return out << "code " << static_cast<int>(key.code) << " \"" << key.text << "\" alt "
             << key.has_alt << " control " << key.has_control << " shift " << key.has_shift;
}

namespace {

using Code = Key::Code;

struct Case {
  std::string bytes;
  std::vector<Key> keys;
};

const Case kCases[] = {
    {"abc", {{.text = "abc"}}},
    {"日😀", {{.text = "日😀"}}},
    {"\r", {{.code = Code::kEnter}}},
    {"\n", {{.code = Code::kEnter}}},
    {"a\x7f", {{.text = "a"}, {.code = Code::kBackspace}}},
    {"\x01\x03\x1a",
     {{.code = Code::kControl, .text = "a"},
      {.code = Code::kControl, .text = "c"},
      {.code = Code::kControl, .text = "z"}}},
    {"\x1b[A\x1bOB", {{.code = Code::kUp}, {.code = Code::kDown}}},
    {"\x1b[1;5C", {{.code = Code::kRight, .has_control = true}}},
    {"\x1b[1;3D", {{.code = Code::kLeft, .has_alt = true}}},
    {"\x1b[H\x1b[F\x1b[1~\x1b[4~\x1b[7~\x1b[8~\x1bOH\x1bOF",
     {{.code = Code::kHome},
      {.code = Code::kEnd},
      {.code = Code::kHome},
      {.code = Code::kEnd},
      {.code = Code::kHome},
      {.code = Code::kEnd},
      {.code = Code::kHome},
      {.code = Code::kEnd}}},
    {"\x1b[3~", {{.code = Code::kDelete}}},
    {"\x1b"
     "b\x1b"
     "f",
     {{.text = "b", .has_alt = true}, {.text = "f", .has_alt = true}}},
    {"\x1b\r", {{.code = Code::kEnter, .has_alt = true}}},
    {"\x1b\x7f", {{.code = Code::kBackspace, .has_alt = true}}},
    {"\x1b[13;2u", {{.code = Code::kEnter, .has_shift = true}}},
    {"\x1b[27;5;13~", {{.code = Code::kEnter, .has_control = true}}},
    {"\x1b[97;5u", {{.code = Code::kControl, .text = "a"}}},
    {"\x1b[Z", {{.code = Code::kBackTab}}},
    {"\x1b\x1b[A", {{.code = Code::kEscape}, {.code = Code::kUp}}},
    {"\x1b[200~a\rb\x1b[31mc\x1b[201~d",
     {{.code = Code::kPaste, .text = "a\nb\uFFFD[31mc"}, {.text = "d"}}},
    // Unknown: F5, a mouse report, focus, a cursor report, a code point that is none.
    {"\x1b[15~\x1b[<0;1;1M\x1b[I\x1b[5;5R\x1b[1114112u", {}},
    {"\x1b[99999999999999999999;99999999999999999999A", {{.code = Code::kUp}}},
};

TEST(Editor_KeyDecoder, KnowsKeysHoweverTheBytesAreCut) {
  for (const Case& test : kCases) {
    KeyDecoder whole;
    EXPECT_EQ(whole.feed(test.bytes), test.keys) << test.bytes;
    KeyDecoder decoder;
    std::vector<Key> keys;
    for (const char byte : test.bytes) {
      for (Key& key : decoder.feed(std::string(1, byte))) {
        const bool joins = key.code == Code::kText && !key.has_alt && !keys.empty() &&
                           keys.back().code == Code::kText && !keys.back().has_alt;
        if (joins) {
          keys.back().text += key.text;
        } else {
          keys.push_back(key);
        }
      }
    }
    EXPECT_EQ(keys, test.keys) << "byte by byte: " << test.bytes;
  }
}

TEST(Editor_KeyDecoder, AnEscapeAloneIsToldByTime) {
  KeyDecoder decoder;
  EXPECT_TRUE(decoder.feed("\x1b").empty());
  EXPECT_TRUE(decoder.is_waiting());
  EXPECT_EQ(decoder.flush(), std::vector<Key>{{.code = Code::kEscape}});
  EXPECT_FALSE(decoder.is_waiting());
}

TEST(Editor_KeyDecoder, APasteWithoutEndIsLeftByControlC) {
  KeyDecoder decoder;
  EXPECT_TRUE(decoder.feed("\x1b[200~abc").empty());
  EXPECT_EQ(decoder.feed("\x03"), (std::vector<Key>{{.code = Code::kPaste, .text = "abc"}}));
  EXPECT_EQ(decoder.feed("d"), (std::vector<Key>{{.text = "d"}}));
}

TEST(Editor_KeyDecoder, APasteIsBounded) {
  KeyDecoder decoder;
  decoder.feed("\x1b[200~");
  const std::string megabyte(size_t{1} << 20, 'x');
  for (int i = 0; i < 20; ++i) decoder.feed(megabyte);
  const std::vector<Key> keys = decoder.feed("\x1b[201~y");
  ASSERT_EQ(keys.size(), 2u);
  EXPECT_LE(keys[0].text.size(), KeyDecoder::kPasteBytesMax);
  EXPECT_GT(keys[0].text.size(), KeyDecoder::kPasteBytesMax - 16);
  EXPECT_TRUE(keys[0].is_cut);
  EXPECT_FALSE(decoder.feed("\x1b[200~x\x1b[201~")[0].is_cut);
  EXPECT_EQ(keys[1].text, "y");
}

TEST(Editor_KeyDecoder, AnyBytesGiveEditableText) {
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes;
    for (int n = 0; n < 40; ++n) {
      bytes += static_cast<char>(random() % 3 == 0 ? "\x1b[0~;O"[random() % 6] : random());
    }
    KeyDecoder decoder;
    for (const Key& key : decoder.feed(bytes)) {
      ASSERT_TRUE(utf8::is_well_formed(key.text));
      ASSERT_EQ(key.text.find('\x1b'), std::string::npos);
      const bool needs_text = key.code == Code::kText || key.code == Code::kControl;
      ASSERT_TRUE(!needs_text || !key.text.empty());
    }
  }
}

}  // namespace
}  // namespace plumbline::editor
