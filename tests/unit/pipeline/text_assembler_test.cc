// Tokens to text with stops. Oracle: golden/cases/kv_context.jsonl, and the first stop that is
// complete in the whole text, looked for byte by byte.
#include "core/pipeline/text_assembler.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/support/golden_cases.h"

namespace plumbline::test {
namespace {

using pipeline::IllFormed;
using pipeline::Stop;
using pipeline::StopLists;
using pipeline::StopSet;
using pipeline::TextAssembler;

class Shown {
 public:
  explicit Shown(const StopLists& stops)
      : assembler_(*StopSet::create(stops), IllFormed::kMaximalSubpart, on_text_, &text) {}

  // What the token made sure. id: of tests with rows of ids.
  std::string feed(std::string_view bytes, int32_t id = 0) {
    fresh_.clear();
    stop = assembler_.feed(id, bytes, false);
    return fresh_;
  }
  std::string interrupt(int32_t id = 0) {
    fresh_.clear();
    stop = assembler_.interrupt(id);
    return fresh_;
  }
  std::string flush() {
    fresh_.clear();
    assembler_.flush();
    return fresh_;
  }

 private:
  std::string fresh_;
  const std::function<void(std::string_view)> on_text_ = [this](std::string_view piece) {
    fresh_ += piece;
  };

 public:
  std::string text;
  std::optional<Stop> stop;

 private:
  TextAssembler assembler_;
};

TEST(TextAssembler, PassesThePublicCases) {
  int n_cases = 0;
  for (const nlohmann::json& one : read_jsonl(golden_path("cases/kv_context.jsonl"))) {
    if (one["input"]["op"] != "stop_stream") continue;
    ++n_cases;
    Shown shown({.texts = one["params"]["stop"]});
    std::vector<std::string> chunks;
    for (const std::string piece : one["input"]["value"]["pieces"]) {
      chunks.push_back(shown.feed(piece));
      if (shown.stop) break;
    }
    if (!shown.stop) shown.flush();
    const nlohmann::json& expected = one["expected"];
    EXPECT_EQ(nlohmann::json(chunks), expected["chunks"]) << one["id"];
    EXPECT_EQ(shown.text, expected["text"]) << one["id"];
    EXPECT_EQ(shown.stop.has_value(), expected["stopped_by_string"]) << one["id"];
  }
  EXPECT_EQ(n_cases, 5);
}

TEST(TextAssembler, HoldsBackOnlyWhatCouldBecomeAStop) {
  Shown shown({.texts = {"END", "\n\n"}});
  EXPECT_EQ(shown.feed("an EN"), "an ");
  EXPECT_EQ(shown.feed("EMY\n"), "ENEMY");
  EXPECT_EQ(shown.flush(), "\n");
  EXPECT_EQ(shown.flush(), "");
}

TEST(TextAssembler, OfSeveralTheFirstToEndCountsThenTheLongest) {
  Shown ends_first({.texts = {"abcdef", "cd"}});
  ends_first.feed("xabcdefg");
  EXPECT_EQ(ends_first.text, "xab");
  EXPECT_EQ(ends_first.stop->index, 1u);
  EXPECT_EQ(ends_first.stop->at, 3u);
  Shown longest({.texts = {"", "b", "abc", "bc", "abc"}});
  longest.feed("xa");
  longest.feed("b");
  EXPECT_EQ(longest.stop->index, 1u) << "complete before the others";
  Shown together({.texts = {"c", "abc", "bc", "abc"}});
  together.feed("xab");
  together.feed("c");
  EXPECT_EQ(together.text, "x");
  EXPECT_EQ(together.stop->index, 1u);
}

TEST(TextAssembler, CutsBetweenCharacters) {
  const std::string smile = "\xF0\x9F\x99\x82";
  Shown shown({.texts = {smile}});
  EXPECT_EQ(shown.feed("hi " + smile.substr(0, 1)), "hi ");
  EXPECT_EQ(shown.feed(smile.substr(1, 2)), "");
  EXPECT_EQ(shown.feed(smile.substr(3) + " more"), "");
  EXPECT_TRUE(shown.stop);
  EXPECT_EQ(shown.flush(), "");
  EXPECT_EQ(shown.text, "hi ");
}

TEST(TextAssembler, NoTextGoesOnAcrossATokenWithoutBytes) {
  Shown shown({.texts = {"END"}});
  shown.feed("EN");
  EXPECT_EQ(shown.interrupt(), "EN");
  EXPECT_EQ(shown.feed("D"), "D");
  EXPECT_EQ(shown.feed("\xE4\xB8"), "");
  EXPECT_EQ(shown.interrupt(), "\uFFFD");
  EXPECT_EQ(shown.feed("\x96x"), "\uFFFDx");
}

TEST(TextAssembler, ATextIsFoundInsideARunOfBytes) {
  std::string text;
  TextAssembler assembler(*StopSet::create({.texts = {"é!"}}), IllFormed::kByteRun, {}, &text);
  EXPECT_FALSE(assembler.feed(0, "ab", false));
  EXPECT_FALSE(assembler.feed(0, "\xC3", true));
  EXPECT_FALSE(assembler.feed(0, "\xA9", true));
  EXPECT_TRUE(assembler.feed(0, "!", false));
  assembler.flush();
  EXPECT_EQ(text, "ab");
}

TEST(TextAssembler, RowsOfIdsAreHeldBackToo) {
  Shown shown({.tails = {{5, 6, 7}, {6, 8}}});
  EXPECT_EQ(shown.feed("a", 1), "a");
  EXPECT_EQ(shown.feed("bb", 5), "");
  EXPECT_EQ(shown.interrupt(6), "");
  EXPECT_EQ(shown.feed("c", 9), "bbc");
  EXPECT_EQ(shown.feed("dd", 5), "");
  EXPECT_EQ(shown.feed("", 6), "");
  EXPECT_EQ(shown.feed("e", 8), "dd") << "of the row's ids, none";
  ASSERT_TRUE(shown.stop);
  EXPECT_EQ(shown.stop->kind, Stop::Kind::kTail);
  EXPECT_EQ(shown.stop->index, 1u);
  EXPECT_EQ(shown.stop->at, 6u);
  EXPECT_EQ(shown.text, "abbcdd");
}

TEST(TextAssembler, ATextComesBeforeARowThatItsTokenCompletes) {
  Shown shown({.texts = {"yz"}, .tails = {{1, 2}}});
  shown.feed("wx", 1);
  shown.feed("xyz!", 2);
  EXPECT_EQ(shown.stop->kind, Stop::Kind::kText);
  EXPECT_EQ(shown.text, "wxx");
}

TEST(TextAssembler, CutsAnyPiecesAsTheWholeWouldBeCut) {
  std::mt19937 random(3);
  const std::vector<std::string> stops = {"aba", "bb", "caac"};
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (int i = 0; i < 12; ++i) text += static_cast<char>('a' + random() % 3);
    std::string expected = text;
    bool is_stopped = false;
    for (size_t end = 1; end <= text.size() && !is_stopped; ++end) {
      for (const std::string& stop : stops) {
        if (!std::string_view(text).substr(0, end).ends_with(stop)) continue;
        expected = std::min(expected, text.substr(0, end - stop.size()),
                            [](const auto& a, const auto& b) { return a.size() < b.size(); });
        is_stopped = true;
      }
    }
    Shown shown({.texts = stops});
    for (size_t at = 0; at < text.size() && !shown.stop;) {
      const size_t n = 1 + random() % 4;
      shown.feed(std::string_view(text).substr(at, n));
      at += n;
    }
    EXPECT_EQ(shown.stop.has_value(), is_stopped) << text;
    if (!shown.stop) shown.flush();
    EXPECT_EQ(shown.text, expected) << text;
  }
}

}  // namespace
}  // namespace plumbline::test
