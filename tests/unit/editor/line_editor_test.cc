// Keys -> screen. Oracle: what a person expects of Readline's keys, seen in the window of a
// terminal that counts columns by itself (tests/support/screen.h).
#include "core/editor/line_editor.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/support/screen.h"

namespace plumbline::editor {
namespace {

using test::Screen;

Completion complete_colours(std::string_view before) {
  static const std::vector<std::string> kWords = {"/green ", "/grey ", "/red "};
  Completion completion;
  for (const std::string& word : kWords) {
    if (word.starts_with(before)) completion.words.push_back(word);
  }
  return completion;
}

/// An editor at a terminal.
class Desk {
 public:
  explicit Desk(Window window = {}, bool joins = true)
      : window_(window), screen_(window.n_columns, window.n_rows, joins) {
    begin("");
  }

  void begin(const std::string& meter, const std::string& text = "") {
    editor_.begin({.meter = meter}, text);
    screen_.feed(editor_.paint(window_));
  }
  /// The last outcome that was not kMore.
  LineEditor::Outcome type(std::string_view bytes, bool paints_each = true) {
    using Outcome = LineEditor::Outcome;
    Outcome last = Outcome::kMore;
    std::vector<Key> keys = decoder_.feed(bytes);
    for (Key& key : decoder_.flush()) keys.push_back(key);
    for (const Key& key : keys) {
      const Outcome outcome = editor_.press(key);
      if (paints_each) screen_.feed(editor_.paint(window_));
      if (outcome == Outcome::kEntered) {
        screen_.feed(editor_.finish(window_));
        EXPECT_TRUE(history_.add(editor_.text()));
        entered_.push_back(editor_.text());
        editor_.begin({});
      }
      if (outcome != Outcome::kMore) last = outcome;
    }
    screen_.feed(editor_.paint(window_));
    return last;
  }
  /// Others write to the terminal.
  void is_written_over(std::string_view bytes) {
    screen_.feed(bytes);
    screen_.feed(editor_.paint_anew(window_));
  }
  void resize(Window window) {
    window_ = window;
    screen_.resize(window.n_columns, window.n_rows);
    screen_.feed(editor_.paint(window_));
  }

  const std::string& text() const { return editor_.text(); }
  const std::vector<std::string>& entered() const { return entered_; }
  const Screen& screen() const { return screen_; }
  std::string shown() const { return screen_.text_with_cursor(); }

 private:
  Window window_;
  Screen screen_;
  LineHistory history_;
  KeyDecoder decoder_;
  LineEditor editor_{history_, complete_colours, true};
  std::vector<std::string> entered_;
};

struct Case {
  const char* name;
  std::string keys;
  std::string shown;
};

#define ALT "\x1b"
#define PASTE(text) "\x1b[200~" text "\x1b[201~"
const std::string kLeft = "\x1b[D", kRight = "\x1b[C", kUp = "\x1b[A", kDown = "\x1b[B";
const std::string kHome = "\x1b[H", kEnd = "\x1b[F", kDelete = "\x1b[3~";

const Case kCases[] = {
    {"nothing", "", "> |"},
    {"text", "hello", "> hello|"},
    {"insert inside", "hllo" + kLeft + kLeft + kLeft + "e", "> he|llo"},
    {"C-a",
     "bc\x01"
     "a",
     "> a|bc"},
    {"C-e",
     "ab\x01\x05"
     "c",
     "> abc|"},
    {"Home and End", "bc" + kHome + "a" + kEnd + "d", "> abcd|"},
    {"C-b and C-f",
     "ac\x02"
     "b\x06"
     "d",
     "> abcd|"},
    {"Backspace", "abc\x7f\x7f", "> a|"},
    {"Backspace at the start", "a\x01\x7f", "> |a"},
    {"Delete", "abc" + kHome + kDelete, "> |bc"},
    {"Delete at the end", "abc" + kDelete, "> abc|"},
    {"C-d deletes", "abc\x01\x04", "> |bc"},
    {"C-k", "abc def\x01\x06\x06\x06\x0b", "> abc|"},
    {"C-u", "abc def\x02\x02\x15", "> |ef"},
    {"C-w", "abc def\x17", "> abc |"},
    {"C-w takes a path", "cd /usr/lib  \x17", "> cd |"},
    {"M-Backspace takes a word", "cd /usr/lib" ALT "\x7f", "> cd /usr/|"},
    {"C-y", "abc def\x17\x01\x19", "> def|abc"},
    {"kills are joined", "a b c\x17\x17\x17\x19", "> a b c|"},
    {"kills forward are joined", "a b c\x01" ALT "d" ALT "d\x05!\x19", ">  c!a b|"},
    {"kills apart are not", "ab cd\x17\x01\x06\x02\x0b\x19\x19", "> ab ab |"},
    {"M-b and M-f", "one two" ALT "b" ALT "bX" ALT "fY", "> XoneY| two"},
    {"C-Left and C-Right", "one two\x1b[1;5D\x1b[1;5DX\x1b[1;5CY", "> XoneY| two"},
    {"words of other scripts", "naïve 日本語" ALT "bX", "> naïve X|日本語"},

    {"wide", "日本" + kLeft, "> 日|本"},
    {"wide, erased whole", "日本\x7f", "> 日|"},
    {"marks are erased with their letter", "xa\u0308\u0301\x7f", "> x|"},
    {"a family is one", "a👨‍👩‍👧‍👦b" + kLeft + kLeft + "-",
     "> a-|👨‍👩‍👧‍👦b"},
    {"a flag is one", "🇩🇪🇫🇷\x7f", "> 🇩🇪|"},
    {"an emoji, typed piece by piece",
     "👍"
     "🏽",
     "> 👍🏽|"},
    {"a mark in front of the rest", "ab" + kLeft + "\u0308", "> a\u0308|b"},
    {"broken bytes",
     "a\xff"
     "b",
     "> a\uFFFDb|"},
    {"direction marks are shown",
     "a\u202e"
     "b",
     "> a?b|"},

    {"M-Enter", "one" ALT "\rtwo", "> one\n  two|"},
    {"S-Enter", "one\x1b[13;2utwo", "> one\n  two|"},
    {"backslash", "one\\\rtwo", "> one\n  two|"},
    {"a backslash inside is none", "o\\ne" ALT "\r", "> o\\ne\n  |"},
    {"Up and Down in lines", "abcdef" ALT "\rxy" ALT "\rabcdef" + kUp + kUp + "1" + kDown + "2",
     "> abcdef1\n  xy2|\n  abcdef"},
    {"C-a in the second line", "one" ALT "\rtwo\x01-", "> one\n  -|two"},
    {"C-k joins lines", "one" ALT "\rtwo" + kUp + kEnd + "\x0b", "> one|two"},
    {"C-u joins lines", "one" ALT "\rtwo\x01\x15", "> one|two"},
    {"Backspace joins lines", "one" ALT "\rtwo\x01\x7f", "> one|two"},
    {"C-Home and C-End", "one" ALT "\rtwo\x1b[1;5H1\x1b[1;5F2", "> 1one\n  two2|"},

    {"paste", PASTE("one\rtwo\r"), "> one\n  two\n  |"},
    {"paste with commands of a terminal", PASTE("a\x1b[31mb\x07\x03"),
     "> a\uFFFD[31mb\uFFFD\uFFFD|"},
    {"paste with tabs", PASTE("a\tb"), "> a     b|"},
    {"paste with emoji and Chinese",
     PASTE("你好\n👨‍👩‍👧‍👦 ok") + kLeft + kLeft + kLeft + kLeft,
     "> 你好\n  |👨‍👩‍👧‍👦 ok"},
    {"paste inside", "ac" + kLeft + PASTE("b"), "> ab|c"},

    {"Tab completes", "/r\t", "> /red |"},
    {"Tab, as far as it is sure", "/\tx", "> /x|"},
    {"Tab, common start", "/g\t", "> /gre|"},
    {"Tab twice shows the choices", "/g\t\t\t", "> /gre|\n/green   /grey"},
    {"choices go with the next key", "/g\t\t\te", "> /gree|"},
    {"Tab in the dark", "x\t", "> x|"},

    {"Enter", "one\rtwo", "> one\n> two|"},
    {"Enter inside", "one" + kHome + "\rx", "> one\n> x|"},
    {"Enter in lines", "a" ALT "\rb" + kUp + "\rx", "> a\n  b\n> x|"},
    {"Up is history", "one\rtwo\r" + kUp + kUp, "> one\n> two\n> one|"},
    {"Down comes back", "one\rdraft" + kUp + kDown + "!", "> one\n> draft!|"},
    {"C-p and C-n", "one\rtwo\r\x10\x10\x0e", "> one\n> two\n> two|"},
    {"history of lines", "a" ALT "\rb\r" + kUp, "> a\n  b\n> a\n  b|"},
    {"no more history", "one\r" + kUp + kUp + kUp, "> one\n> one|"},

    {"C-r", "red\rgreen\r\x12", "> red\n> green\n> |\nsearch:"},
    {"C-r finds", "red\rgreen\r\x12re", "> red\n> green\n> g|reen\nsearch: re"},
    {"C-r again", "red\rgreen\r\x12re\x12", "> red\n> green\n> |red\nsearch: re"},
    {"C-r, nothing", "red\r\x12x", "> red\n> |\nnot found: x"},
    {"C-r, then keys", "red\rgreen\r\x12re\x05!", "> red\n> green\n> green!|"},
    {"C-r, then Enter",
     "red\rgreen\r\x12"
     "d\r",
     "> red\n> green\n> red\n> |"},
    {"C-r, left by C-g", "red\rdraft\x12r\x07", "> red\n> draft|"},
    {"C-r, left by Escape", "red\r\x12r\x1b", "> red\n> |red"},
    {"C-r, Backspace",
     "red\rgreen\r\x12"
     "ee\x7f\x7f",
     "> red\n> green\n> |\nsearch:"},
    {"C-r, then Up",
     "a\rb\rc\r\x12"
     "b" +
         kUp,
     "> a\n> b\n> c\n> a|"},

    {"C-l", "one\rtwo\x0c", "> two|"},
};

TEST(Editor_LineEditor, KeysToScreen) {
  for (const Case& test : kCases) {
    for (const bool paints_each : {true, false}) {
      Desk desk({.n_columns = 40, .n_rows = 10});
      desk.type(test.keys, paints_each);
      EXPECT_EQ(desk.shown(), test.shown) << test.name;
      EXPECT_EQ(desk.screen().unknown(), "") << test.name;
      EXPECT_TRUE(desk.screen().is_cursor_shown() && desk.screen().wraps()) << test.name;
    }
  }
}

TEST(Editor_LineEditor, ATerminalThatJoinsNoEmojiShowsTheRestWhereItIs) {
  Desk desk({.n_columns = 20, .n_rows = 5}, false);
  desk.type("a👨‍👩‍👧‍👦b👨‍👩‍👧‍👦" + kLeft + "c");
  EXPECT_EQ(desk.shown(), "> a👨‍bc|👨‍👩‍👧‍👦");
  desk.type(
      "\x15"
      "0123456789abcd");
  EXPECT_EQ(desk.shown(), "> 0123456789abcd|👨‍👦");
}

TEST(Editor_LineEditor, Outcomes) {
  using Outcome = LineEditor::Outcome;
  EXPECT_EQ(Desk().type("a\r"), Outcome::kEntered);
  EXPECT_EQ(Desk().type("\r"), Outcome::kEntered);
  EXPECT_EQ(Desk().type("\x04"), Outcome::kEnded);
  EXPECT_EQ(Desk().type("a\x04"), Outcome::kMore);
  EXPECT_EQ(Desk().type("a\x03"), Outcome::kInterrupted);
  EXPECT_EQ(Desk().type("a\x1a"), Outcome::kSuspended);
  EXPECT_EQ(Desk().type("\x12"
                        "a\x03"),
            Outcome::kMore)
      << "the search is left, not the entry";
}

TEST(Editor_LineEditor, BellsWhereNothingCanBeDone) {
  Desk desk;
  desk.type("x\t");
  EXPECT_EQ(desk.screen().n_bells(), 1u);
  desk.type("y");
  EXPECT_EQ(desk.screen().n_bells(), 1u);
}

TEST(Editor_LineEditor, Wraps) {
  Desk desk({.n_columns = 10, .n_rows = 5});
  desk.type("abcdefghijkl");
  EXPECT_EQ(desk.shown(), "> abcdefg\n  hijkl|");
  desk.type(kUp);
  EXPECT_EQ(desk.shown(), "> abcde|fg\n  hijkl");
  desk.type("日日");
  EXPECT_EQ(desk.shown(), "> abcde日\n  日|fghij\n  kl");
  desk.type("\x7f\x7f\x7f\x7f\x7f\x7f\x7f");
  EXPECT_EQ(desk.shown(), "> |fghijkl");
}

TEST(Editor_LineEditor, AMeterGivesWayInANarrowWindow) {
  Desk desk({.n_columns = 40, .n_rows = 5});
  desk.begin("12/4096 ", "text");
  EXPECT_EQ(desk.shown(), "12/4096 > text|");
  desk.resize({.n_columns = 20, .n_rows = 5});
  EXPECT_EQ(desk.shown(), "> text|");
}

TEST(Editor_LineEditor, ShowsThePartWithTheCursor) {
  Desk desk({.n_columns = 20, .n_rows = 3});
  desk.type("1\x1b\r2\x1b\r3\x1b\r4\x1b\r5");
  EXPECT_EQ(desk.shown(), "  3\n  4\n  5|");
  desk.type(kUp + kUp);
  EXPECT_EQ(desk.shown(), "  3|\n  4\n  5");
  desk.type(kUp + kUp);
  EXPECT_EQ(desk.shown(), "> 1|\n  2\n  3");
  desk.type(kUp);
  EXPECT_EQ(desk.shown(), "> 1|\n  2\n  3") << "the first row: there is no history";
  desk.type("\x1b[1;5F");
  EXPECT_EQ(desk.shown(), "  3\n  4\n  5|");
}

TEST(Editor_LineEditor, IsShownAnewBelowWhatOthersWrote) {
  Desk desk({.n_columns = 20, .n_rows = 8});
  desk.type("one\x1b\rtwo" + kUp);
  desk.is_written_over("\r\n\r\n$ fg\r\n");
  EXPECT_EQ(desk.shown(), "> one\n  two\n$ fg\n> one|\n  two");
  desk.type("!");
  EXPECT_EQ(desk.shown(), "> one\n  two\n$ fg\n> one!|\n  two");
}

TEST(Editor_LineEditor, Resizes) {
  const std::string keys = "hi\r" + std::string(60, 'x') + ALT "\rsecond 日本語" + kUp;
  const std::string to_end = "\x1b[1;5F";
  for (const uint32_t width : {79u, 40u, 30u, 20u, 13u, 7u}) {
    Desk desk({.n_columns = 40, .n_rows = 12});
    desk.type(keys);
    desk.resize({.n_columns = width, .n_rows = 12});
    Desk fresh({.n_columns = width, .n_rows = 12});
    fresh.type(keys);
    // The cursor's row is another one at another width.
    desk.type(to_end);
    fresh.type(to_end);
    EXPECT_EQ(desk.shown(), fresh.shown()) << width;
  }
}

TEST(Editor_LineEditor, ALargePasteIsWhole) {
  std::string book;
  while (book.size() < (size_t{1} << 20))
    book += "A line with 日本語 and 👨‍👩‍👧‍👦 in it.\n";
  Desk desk({.n_columns = 20, .n_rows = 5});
  desk.type("\x1b[200~" + book + "\x1b[201~");
  EXPECT_EQ(desk.text(), book);
  desk.type("end\r");
  EXPECT_EQ(desk.entered().back(), book + "end");
}

/// Whatever is pressed, what is on the screen is what a fresh painting of it shows.
TEST(Editor_LineEditor, PaintsWhatAFreshPaintingWould) {
  const std::string keys[] = {"a",
                              "b ",
                              "日",
                              "👨‍👩‍👧‍👦",
                              "e\u0301",
                              "\t",
                              ALT "\r",
                              "\x7f",
                              kLeft,
                              kRight,
                              kUp,
                              kDown,
                              kHome,
                              kEnd,
                              kDelete,
                              "\x0b",
                              "\x15",
                              "\x17",
                              "\x19",
                              ALT "b",
                              ALT "f",
                              ALT "d",
                              "/g",
                              "\t",
                              "\x12",
                              "\x07",
                              PASTE("some\nlonger text that is pasted\n\tin"),
                              "\u202e",
                              "\x1b[1;5H",
                              "long-long-long-word"};
  std::mt19937 random(11);
  for (int round = 0; round < 60; ++round) {
    const Window window{.n_columns = 24 + static_cast<uint32_t>(random() % 40),
                        .n_rows = 2 + static_cast<uint32_t>(random() % 9)};
    Desk desk(window);
    for (int i = 0; i < 60; ++i) {
      desk.type(keys[random() % std::size(keys)]);
      const std::string before = desk.shown();
      desk.type("\x0c");  // paints everything; ends a search and its notes
      const std::string after = desk.shown();
      const bool has_notes = before.find("search:") != before.npos ||
                             before.find("not found:") != before.npos ||
                             before.find("/green   /grey") != before.npos;
      ASSERT_TRUE(has_notes || before == after) << round << "." << i << "\n"
                                                << before << "\n"
                                                << after;
      ASSERT_EQ(desk.screen().unknown(), "");
    }
  }
}

}  // namespace
}  // namespace plumbline::editor
