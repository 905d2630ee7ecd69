// Stop strings over a stream of bytes. The oracle is the first place of any stop string in the
// whole text.
#include "core/pipeline/stop_matcher.h"

#include <gtest/gtest.h>

#include <random>

namespace plumbline::test {
namespace {

using pipeline::StopMatcher;

struct Shown {
  std::string text;
  bool stopped = false;
};

Shown show(const std::vector<std::string>& stops, const std::vector<std::string>& pieces) {
  StopMatcher matcher(stops);
  Shown shown;
  for (const std::string& piece : pieces) {
    shown.stopped = matcher.feed(piece, &shown.text);
    if (shown.stopped) return shown;
  }
  shown.text += matcher.flush();
  return shown;
}

TEST(StopMatcher, FindsStopsAcrossPieces) {
  const Shown one = show({"END"}, {"the E", "N", "D of it"});
  EXPECT_TRUE(one.stopped);
  EXPECT_EQ(one.text, "the ");
}

TEST(StopMatcher, HoldsBackOnlyWhatCouldBecomeAStop) {
  StopMatcher matcher({"END", "\n\n"});
  std::string out;
  EXPECT_FALSE(matcher.feed("an EN", &out));
  EXPECT_EQ(out, "an ");
  EXPECT_FALSE(matcher.feed("EMY\n", &out));
  EXPECT_EQ(out, "an ENEMY");
  EXPECT_EQ(matcher.flush(), "\n");
  EXPECT_EQ(matcher.flush(), "");
}

TEST(StopMatcher, GoesBackInsideAPartialMatch) {
  // "aab" begins again inside "aaab".
  EXPECT_EQ(show({"aab"}, {"a", "a", "a", "b", "!"}).text, "a");
  EXPECT_EQ(show({"abab!"}, {"aba", "bab!"}).text, "ab");
}

TEST(StopMatcher, TakesTheFirstOfSeveral) {
  EXPECT_EQ(show({"three", "two"}, {"one two three"}).text, "one ");
  EXPECT_EQ(show({"b", "abc"}, {"xabc"}).text, "x");
}

TEST(StopMatcher, CutsBytesOfCharacters) {
  const std::string smile = "\xF0\x9F\x99\x82";
  const Shown one =
      show({smile}, {"hi " + smile.substr(0, 1), smile.substr(1, 2), smile.substr(3)});
  EXPECT_TRUE(one.stopped);
  EXPECT_EQ(one.text, "hi ");
}

TEST(StopMatcher, WithoutStopsNothingIsHeldBack) {
  for (const std::vector<std::string>& stops :
       {std::vector<std::string>{}, std::vector<std::string>{""}}) {
    StopMatcher matcher(stops);
    std::string out;
    EXPECT_FALSE(matcher.feed("text", &out));
    EXPECT_EQ(out, "text");
    EXPECT_EQ(matcher.flush(), "");
  }
}

TEST(StopMatcher, CutsAnyTextAsTheWholeWouldBeCut) {
  std::mt19937 random(3);
  const std::vector<std::string> stops = {"aba", "bb", "caac"};
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (int i = 0; i < 12; ++i) text += static_cast<char>('a' + random() % 3);
    std::vector<std::string> pieces;
    for (size_t at = 0; at < text.size();) {
      const size_t n = 1 + random() % 4;
      pieces.push_back(text.substr(at, n));
      at += n;
    }
    // A piece ends as soon as any stop is complete, so the one that ends first counts, then where
    // it begins.
    std::string expected = text;
    std::string seen;
    bool stopped = false;
    for (const std::string& piece : pieces) {
      seen += piece;
      size_t first = std::string::npos;
      for (const std::string& stop : stops) first = std::min(first, seen.find(stop));
      if (first != std::string::npos) {
        expected = seen.substr(0, first);
        stopped = true;
        break;
      }
    }
    const Shown shown = show(stops, pieces);
    EXPECT_EQ(shown.text, expected) << text;
    EXPECT_EQ(shown.stopped, stopped) << text;
  }
}

}  // namespace
}  // namespace plumbline::test
