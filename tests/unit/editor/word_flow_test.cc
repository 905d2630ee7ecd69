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
    {"long in code", "```\n{\"a\":[1,2,3,4,5,6]} b\n```\nand then some",
     "```\n{\"a\":[1,2,3,4,5,6]} b\n```\nand then\nsome"},
    {"a fence in pieces", "```c\n``` and then some", "```c\n``` and\nthen some"},
    {"no blanks", "ภาษาไทยเขียนติดกัน", "ภาษาไทยเขียน\nติดกัน"},
    {"a mark at an edge", "pneumonoultramicroscop\u0308ic b", "pneumonoultramicroscop\u0308ic b"},
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

// What is left to the terminal, or may stand alone, is not waited for. A word that fits is.
TEST(Editor_WordFlow, NothingIsHeldBackForLong) {
  struct Held {
    const char* name;
    std::string begun;
    std::string text;
    size_t most;  // bytes that have not come out
  };
  const Held cases[] = {
      {"wide", "", "日本語の文章です日本語の文章です", 3},
      {"no blanks", "", "ภาษาไทยเขียนติดกัน", 9},
      {"code", "```json\n", "{\"a\":[1,2,3,4,5,6,7,8,9,10,11,12]}", 1},
      {"base64", "", "cGx1bWJsaW5lIGNvbXBhcmVzIHR3byBydW5z", 12},
  };
  for (const Held& test : cases) {
    WordFlow flow;
    size_t n_out = flow.feed(test.begun, 12).size(), n_in = test.begun.size();
    for (size_t at = 0; at < test.text.size();) {
      const size_t n = glyph_at(test.text, at).n_bytes;
      std::string shown = flow.feed(std::string_view(test.text).substr(at, n), 12);
      std::erase(shown, '\n');
      at += n;
      n_in += n;
      n_out += shown.size();
      EXPECT_LE(n_in - n_out, test.most) << test.name << " at " << at;
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
