// Oracle: every row fits, nothing is lost, and every cursor has a place that leads back to it.
#include "core/editor/text_layout.h"

#include <gtest/gtest.h>

#include "core/editor/glyphs.h"

namespace plumbline::editor {
namespace {

const char* const kTexts[] = {
    "",
    "short",
    "a line that is longer than any of the windows that it is shown in, by far",
    "\n",
    "\n\n\n",
    "one\ntwo\n\nfour\n",
    "日本語の文章はここで折り返されるはずです。",
    "a日b本c語d",
    "👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦 family "
    "🇩🇪🇫🇷 "
    "❤\uFE0F",
    "\ttab\t\ttabs\t日\t",
    "a\u0308\u0301e\u0301 \u0301",
};

TEST(Editor_TextLayout, EveryRowFitsAndEveryCursorHasAPlace) {
  for (const std::string text : kTexts) {
    for (const uint32_t width : {1u, 3u, 4u, 5u, 8u, 20u, 79u}) {
      for (const Indents indents : {Indents{0, 0}, Indents{2, 2}, Indents{11, 2}}) {
        SCOPED_TRACE(text + " in " + std::to_string(width));
        const TextLayout layout(text, width, indents);
        const uint32_t usable = std::max(width, 3u) - 1;
        size_t at = 0;
        for (const TextLayout::Row& row : layout.rows()) {
          EXPECT_LE(row.n_columns, usable);
          const bool is_break = row.begin == at + 1 && text[at] == '\n';
          EXPECT_TRUE(row.begin == at || is_break);
          at = row.end;
        }
        EXPECT_EQ(at, text.size());
        for (size_t cursor = 0;;) {
          const Place place = layout.place_of(cursor);
          EXPECT_LE(place.column, usable);
          EXPECT_EQ(layout.cursor_at(place), cursor);
          if (cursor == text.size()) break;
          cursor += glyph_at(text, cursor).n_bytes;
        }
      }
    }
  }
}

TEST(Editor_TextLayout, SetsTheColumnWhereTerminalsDisagree) {
  const std::string family = "👨‍👩‍👧‍👦";
  EXPECT_EQ(shown_line("plain", 0), "plain");
  EXPECT_EQ(shown_line("日本", 0), "日本");
  EXPECT_EQ(shown_line("日本x", 2), "日本\x1b[7G\x1b[Kx");
  EXPECT_EQ(shown_line(family + family + "x", 0),
            family + "\x1b[3G\x1b[K" + family + "\x1b[5G\x1b[Kx");
}

}  // namespace
}  // namespace plumbline::editor
