// Oracle: the text itself, with line breaks in the place of blanks where a row would be too long.
#include "core/editor/word_flow.h"

#include <gtest/gtest.h>

#include "core/editor/glyphs.h"

namespace plumbline::editor {
namespace {

struct Case {
  const char* name;
  std::string text;
  std::string shown;  // in 12 columns
};

const Case kCases[] = {
    {"short", "a short one", "a short one"},
    {"between words", "the quick brown fox jumps", "the quick\nbrown fox\njumps"},
    {"as it comes", "one\n\n  two\n", "one\n\n  two\n"},
    {"a long word is the terminal's", "a pneumonoultramicroscopic b",
     "a pneumonoultramicroscopic b"},
    {"wide", "日本語の文章です", "日本語の文\n章です"},
    {"wide and narrow", "see 日本語の文章", "see 日本語\nの文章"},
    {"code stays", "x\n```\nint answer = 42;\n```\nand then some more",
     "x\n```\nint answer = 42;\n```\nand then\nsome more"},
    {"blanks at an end", "exactly ten  and", "exactly ten\nand"},
};

TEST(Editor_WordFlow, BreaksBetweenWordsHoweverThePiecesAre) {
  for (const Case& test : kCases) {
    for (const size_t step : {size_t{1}, size_t{2}, size_t{5}, test.text.size()}) {
      WordFlow flow;
      std::string shown;
      std::string piece;
      size_t n_glyphs = 0;
      for (size_t at = 0; at < test.text.size();) {
        const size_t n = glyph_at(test.text, at).n_bytes;
        piece += test.text.substr(at, n);
        at += n;
        if (++n_glyphs % step == 0) shown += flow.feed(std::exchange(piece, ""), 12);
      }
      shown += flow.feed(piece, 12);
      shown += flow.finish(12);
      EXPECT_EQ(shown, test.shown) << test.name << " by " << step;
      EXPECT_TRUE(flow.is_at_line_start());
    }
  }
}

TEST(Editor_WordFlow, AnyWidthWill) {
  for (uint32_t n_columns = 0; n_columns < 5; ++n_columns) {
    WordFlow flow;
    std::string shown = flow.feed("some 日本 words\n", n_columns) + flow.finish(n_columns);
    std::erase_if(shown, [](char byte) { return byte == ' ' || byte == '\n'; });
    EXPECT_EQ(shown, "some日本words");
  }
}

}  // namespace
}  // namespace plumbline::editor
