// Oracle: Unicode Standard Annex 29 for what is one character; for columns the width of East Asian
// characters in Annex 11 and of emoji as terminals show them.
#include "core/editor/glyphs.h"

#include <gtest/gtest.h>

namespace plumbline::editor {
namespace {

struct Case {
  const char* name;
  std::string text;  // one glyph
  uint32_t n_columns;
};

const Case kGlyphs[] = {
    {"a letter", "a", 1},
    {"an umlaut", "ä", 1},
    {"an umlaut in two", "a\u0308", 1},
    {"many marks", "a\u0308\u0301\u0302\u0303", 1},
    {"Chinese", "語", 2},
    {"Hangul syllable", "한", 2},
    {"Hangul letters", "\u1112\u1161\u11ab", 2},
    {"full width letter", "Ａ", 2},
    {"an emoji", "😀", 2},
    {"a skin tone", "👍🏽", 2},
    {"a family", "👨‍👩‍👧‍👦", 2},
    {"a flag", "🇩🇪", 2},
    {"a text symbol", "❤", 1},
    {"the same as an emoji", "❤\uFE0F", 2},
    {"a key cap", "1\uFE0F\u20E3", 2},
    {"Devanagari with a spacing mark", "का", 2},
    {"a mark alone", "\u0301", 1},
    {"a mark of direction", "\u202e", 1},
    {"a line break", "\n", 0},
};

TEST(Editor_Glyphs, AreWhole) {
  for (const Case& test : kGlyphs) {
    const std::string around = "x" + test.text + "y";
    const bool is_mark_alone = test.text == "\u0301";
    const std::string text = is_mark_alone ? "\n" + test.text + "y" : around;
    EXPECT_EQ(glyph_at(text, 1).n_bytes, test.text.size()) << test.name;
    EXPECT_EQ(glyph_at(text, 1).n_columns, test.n_columns) << test.name;
    EXPECT_EQ(glyph_before(text, 1 + test.text.size()), 1u) << test.name;
    EXPECT_EQ(glyph_before(text, 1), 0u) << test.name;
  }
}

TEST(Editor_Glyphs, BackwardsMeetsWhatForwardsMet) {
  std::string text;
  for (const Case& test : kGlyphs) text += test.text + test.text + "z";
  std::vector<size_t> starts;
  for (size_t at = 0; at < text.size(); at += glyph_at(text, at).n_bytes) starts.push_back(at);
  size_t at = text.size();
  while (!starts.empty()) {
    at = glyph_before(text, at);
    EXPECT_EQ(at, starts.back());
    starts.pop_back();
  }
}

TEST(Editor_Glyphs, NothingShownIsObeyed) {
  const std::string mark = "\u0301";
  EXPECT_EQ(shown_glyph(mark, 0, glyph_at(mark, 0)), "\u25CC\u0301");
  const std::string bidi = "\u202e";
  EXPECT_EQ(shown_glyph(bidi, 0, glyph_at(bidi, 0)), "?");
}

TEST(Editor_Glyphs, EditableTextHasNoControls) {
  EXPECT_EQ(editable("a\r\nb\rc\nd\te"), "a\nb\nc\nd\te");
  EXPECT_EQ(editable("\x1b[31m\x07\x7f\xc2\x9b"), "\uFFFD[31m\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(editable("a\xff"
                     "b\xe2\x82"),
            "a\uFFFDb\uFFFD");
  EXPECT_EQ(editable(std::string("\0", 1)), "\uFFFD");
}

TEST(Editor_Glyphs, CutsBetweenThem) {
  EXPECT_EQ(cut_to_columns("abc", 3), "abc");
  EXPECT_EQ(cut_to_columns("abcd", 3), "ab…");
  EXPECT_EQ(cut_to_columns("日本語", 4), "日…");
  EXPECT_EQ(cut_to_columns("abc", 0), "");
}

}  // namespace
}  // namespace plumbline::editor
