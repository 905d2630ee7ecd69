// Oracle: the naive search, which tries every literal at every byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "plumb/sdk/tokenizer/literal_matcher.h"

namespace plumbline::tokenizer {
namespace {

std::string random_word(std::mt19937& random, size_t n) {
  std::string word;
  for (size_t i = 0; i < n; ++i) word.push_back("ab\xFF"[random() % 3]);
  return word;
}

TEST(LiteralMatcher, FindsTheLongestAtEveryByte) {
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::string> literals;
    LiteralMatcher matcher;
    for (size_t i = random() % 12; i-- > 0;) {
      const std::string literal = random_word(random, 1 + random() % 6);
      const auto known = std::find(literals.begin(), literals.end(), literal);
      const int32_t id = static_cast<int32_t>(literals.size());
      if (known != literals.end()) {
        ASSERT_EQ(matcher.add(literal, id), known - literals.begin());
        continue;
      }
      ASSERT_EQ(matcher.add(literal, id), -1);
      literals.push_back(literal);
    }
    matcher.build();

    const std::string text = random_word(random, random() % 40);
    std::vector<LiteralMatcher::Match> found;
    matcher.find_backward(text, found);
    for (size_t at = 0; at < text.size(); ++at) {
      int32_t longest = -1;
      for (int32_t id = 0; id < static_cast<int32_t>(literals.size()); ++id) {
        if (text.compare(at, literals[id].size(), literals[id]) != 0) continue;
        if (longest < 0 || literals[id].size() > literals[longest].size()) longest = id;
      }
      if (longest < 0) continue;
      ASSERT_FALSE(found.empty());
      ASSERT_EQ(found.back().begin, at);
      ASSERT_EQ(found.back().end, at + literals[longest].size());
      ASSERT_EQ(found.back().id, longest);
      LiteralMatcher::Match match = found.back();
      for (size_t n = literals[longest].size(); n-- > 1;) {  // every shorter one at this byte
        const auto shorter = std::find(literals.begin(), literals.end(), text.substr(at, n));
        if (shorter == literals.end()) continue;
        ASSERT_TRUE(matcher.shorten(match));
        ASSERT_EQ(match.begin, at);
        ASSERT_EQ(match.end, at + n);
        ASSERT_EQ(match.id, shorter - literals.begin());
      }
      ASSERT_FALSE(matcher.shorten(match));
      found.pop_back();
    }
    ASSERT_TRUE(found.empty());
  }
}

/// A search that starts anew behind each match would take 10^11 steps.
TEST(LiteralMatcher, StaysLinearWhereRestartingIsQuadratic) {
  LiteralMatcher matcher;
  matcher.add("a", 0);
  matcher.add(std::string(300000, 'a') + "b", 1);
  matcher.build();
  std::vector<LiteralMatcher::Match> found;
  matcher.find_backward(std::string(1000000, 'a'), found);
  EXPECT_EQ(found.size(), 1000000u);
}

}  // namespace
}  // namespace plumbline::tokenizer
