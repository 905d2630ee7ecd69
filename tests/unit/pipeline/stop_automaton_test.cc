// Many rows of symbols in a stream. Oracle: every tail of the stream against every row.
#include "core/pipeline/stop_automaton.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "core/pipeline/stop_set.h"

namespace plumbline::test {
namespace {

using pipeline::StopAutomaton;
using pipeline::StopSet;

template <typename Symbol>
StopAutomaton<Symbol> automaton(const std::vector<std::vector<Symbol>>& rows) {
  const std::vector<std::span<const Symbol>> views(rows.begin(), rows.end());
  return StopAutomaton<Symbol>(views);
}

// The longest row that ends the stream, and how much of its end begins a row.
template <typename Symbol>
std::pair<uint32_t, size_t> naive(const std::vector<std::vector<Symbol>>& rows,
                                  std::span<const Symbol> stream) {
  uint32_t found = StopAutomaton<Symbol>::kNone;
  size_t n_pending = 0;
  for (uint32_t index = 0; index < rows.size(); ++index) {
    const std::vector<Symbol>& row = rows[index];
    for (size_t n = 1; n <= std::min(row.size(), stream.size()); ++n) {
      if (!std::ranges::equal(std::span(row).first(n), stream.last(n))) continue;
      n_pending = std::max(n_pending, n);
      if (n == row.size() && (found == StopAutomaton<Symbol>::kNone || n > rows[found].size()))
        found = index;
    }
  }
  return {found, n_pending};
}

template <typename Symbol>
void expect_as_naive(uint32_t seed, Symbol first_symbol, int n_symbols) {
  std::mt19937 random(seed);
  const auto row = [&](size_t n) {
    std::vector<Symbol> out;
    for (size_t i = 0; i < n; ++i)
      out.push_back(static_cast<Symbol>(first_symbol + static_cast<Symbol>(random() % n_symbols)));
    return out;
  };
  for (int round = 0; round < 100; ++round) {
    std::vector<std::vector<Symbol>> rows;
    for (uint32_t i = random() % 6; i > 0; --i) rows.push_back(row(random() % 6));  // also empty
    const StopAutomaton<Symbol> subject = automaton(rows);
    const std::vector<Symbol> stream = row(60);
    typename StopAutomaton<Symbol>::State state = subject.kStart;
    for (size_t n = 1; n <= stream.size(); ++n) {
      state = subject.next(state, stream[n - 1]);
      const auto [found, n_pending] = naive(rows, std::span(stream).first(n));
      ASSERT_EQ(subject.found(state), found) << "round " << round << ", symbol " << n;
      ASSERT_EQ(subject.n_pending(state), n_pending) << "round " << round << ", symbol " << n;
    }
  }
}

TEST(StopAutomaton, FindsWhatTryingEveryRowFinds) {
  expect_as_naive<uint8_t>(1, 'a', 2);
  expect_as_naive<uint8_t>(2, 253, 3);
  expect_as_naive<int32_t>(3, 0, 2);
  expect_as_naive<int32_t>(4, INT32_MAX - 3, 3);
}

TEST(StopAutomaton, WithoutRowsFindsNothing) {
  const StopAutomaton<uint8_t> nothing;
  EXPECT_EQ(nothing.next(nothing.kStart, 'a'), nothing.kStart);
  EXPECT_EQ(nothing.found(nothing.kStart), nothing.kNone);
  EXPECT_EQ(nothing.n_pending(nothing.kStart), 0u);
}

TEST(StopSet, TakesTenThousandLongTexts) {
  std::mt19937 random(5);
  std::vector<std::string> texts(10000, std::string(1024, ' '));
  for (std::string& text : texts) {
    for (char& byte : text) byte = static_cast<char>(random());
  }
  // Tails that begin anew inside one another are what costs most.
  for (size_t i = 0; i < 5000; ++i) std::fill_n(texts[i].begin(), 1000 + i % 24, 'a');
  const auto set = StopSet::create({.texts = texts});
  ASSERT_TRUE(set) << set.error().message;
  const StopAutomaton<uint8_t>& subject = (*set)->texts();
  for (const size_t index : {size_t{0}, size_t{4999}, size_t{9999}}) {
    StopAutomaton<uint8_t>::State state = subject.kStart;
    for (const char byte : "aaa" + texts[index])
      state = subject.next(state, static_cast<uint8_t>(byte));
    EXPECT_EQ(subject.found(state), index);
  }
}

TEST(StopSet, RefusesMoreThanItsMemoryIsBoundedFor) {
  const auto texts = StopSet::create({.texts = {std::string(StopSet::kSymbolsMax, 'a'), "b"}});
  ASSERT_FALSE(texts);
  EXPECT_EQ(texts.error().code, PLUMB_INVALID_ARGUMENT);
  EXPECT_EQ(texts.error().message,
            "stops: 16777217 bytes of text in all, expected at most 16777216");
  const auto id = StopSet::create({.ids = {3, -7}});
  ASSERT_FALSE(id);
  EXPECT_EQ(id.error().message, "stops: token id -7, expected one of the vocabulary");
}

TEST(StopSet, KnowsTheFirstPlaceOfAnId) {
  const auto set = StopSet::create({.ids = {9, 4, 9}, .tails = {{2, 11}}});
  ASSERT_TRUE(set);
  EXPECT_EQ((*set)->index_of(9), 0u);
  EXPECT_EQ((*set)->index_of(4), 1u);
  EXPECT_EQ((*set)->index_of(2), std::nullopt);
  EXPECT_EQ((*set)->largest_id(), 11);
}

}  // namespace
}  // namespace plumbline::test
