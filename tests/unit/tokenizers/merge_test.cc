// Oracle: the naive loop, which looks at all neighbours again after each merge.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "plumb/sdk/tokenizer/merge.h"

namespace plumbline::tokenizer {
namespace {

using Rules = std::map<std::pair<int32_t, int32_t>, Merge>;

std::vector<int32_t> merged_naively(std::vector<int32_t> ids, const Rules& rules) {
  for (;;) {
    size_t best = ids.size();
    Merge best_merge{};
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      const auto rule = rules.find({ids[i], ids[i + 1]});
      if (rule == rules.end()) continue;
      if (best == ids.size() || rule->second.priority < best_merge.priority) {
        best = i;
        best_merge = rule->second;
      }
    }
    if (best == ids.size()) return ids;
    ids[best] = best_merge.id;
    ids.erase(ids.begin() + static_cast<int64_t>(best) + 1);
  }
}

TEST(Merger, JoinsInTheNaiveOrder) {
  std::mt19937 random(4);
  for (int round = 0; round < 5000; ++round) {
    Rules rules;
    const int32_t n_ids = 3 + static_cast<int32_t>(random() % 12);
    for (size_t i = random() % 20; i-- > 0;) {
      const auto id = [&] { return static_cast<int32_t>(random() % static_cast<uint32_t>(n_ids)); };
      rules[{id(), id()}] = {static_cast<uint32_t>(random() % 6), id()};
    }
    std::vector<int32_t> ids(random() % 30);
    for (int32_t& id : ids) id = static_cast<int32_t>(random() % 3);

    Merger merger;
    for (uint32_t i = 0; i < ids.size(); ++i) merger.add(i, i + 1, ids[i]);
    merger.run([&](const Symbol& left, const Symbol& right) {
      const auto rule = rules.find({left.id, right.id});
      return rule == rules.end() ? Merge{0, -1} : rule->second;
    });
    std::vector<int32_t> ours;
    uint32_t end = 0;
    for (uint32_t at = ids.empty() ? kNoSymbol : 0; at != kNoSymbol; at = merger.symbols[at].next) {
      ASSERT_EQ(merger.symbols[at].begin, end) << "symbols lie end to end";
      end = merger.symbols[at].end;
      ours.push_back(merger.symbols[at].id);
    }
    ASSERT_EQ(end, ids.size());
    ASSERT_EQ(ours, merged_naively(ids, rules));
  }
}

TEST(WordCache, GivesBackWhatWasStored) {
  WordCache cache;
  std::mt19937 random(5);
  for (int round = 0; round < 100000; ++round) {
    std::string word(1 + random() % 24, 'x');
    for (char& c : word) c = static_cast<char>('a' + random() % 3);
    // What a word stands for here: its length, once for each 'a' in it.
    std::vector<Piece> pieces;
    for (const char c : word) {
      if (c == 'a') pieces.push_back({0, static_cast<uint32_t>(word.size()), 7});
    }
    size_t n = 0;
    if (const Piece* found = cache.find(word, &n)) {
      ASSERT_EQ(n, pieces.size());
      for (size_t i = 0; i < n; ++i) ASSERT_EQ(found[i].end, word.size());
    }
    cache.store(word, pieces);
  }
}

}  // namespace
}  // namespace plumbline::tokenizer
