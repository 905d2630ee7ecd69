// Oracle: the naive loop over a word's bytes, which looks at all neighbours again after each merge.
#include "plugins/tokenizers/hf/bpe.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "plugins/tokenizers/hf/byte_alphabet.h"

namespace plumbline::tokenizers::hf {
namespace {

/// A vocabulary of random merges. They join whole characters, pieces of them, and pieces of two
/// neighbours; a token may come later than others that are made of it.
class RandomVocabulary {
 public:
  RandomVocabulary(std::mt19937& random, const std::vector<std::string>& characters) {
    for (int byte = 0; byte < 256; ++byte) add(std::string(1, static_cast<char>(byte)));
    std::vector<std::string> known;
    for (const std::string& one : characters) {
      for (const char byte : one) known.emplace_back(1, byte);
    }
    for (size_t i = 10 + random() % 120; i-- > 0;) {
      std::string text;
      while (text.size() < 2) {
        text.clear();
        for (size_t n = 1 + random() % 4; n-- > 0;)
          text += characters[random() % characters.size()];
        const size_t begin = random() % 3 == 0 ? random() % text.size() : 0;
        text = text.substr(begin, random() % 3 == 0 ? 1 + random() % text.size() : text.size());
      }
      // Every way to halve it, or one.
      const bool all = random() % 2 == 0;
      const size_t one = 1 + random() % (text.size() - 1);
      for (size_t cut = 1; cut < text.size(); ++cut) {
        if (!all && cut != one) continue;
        add(text);
        add(text.substr(0, cut));
        add(text.substr(cut));
        merges_.emplace_back(text.substr(0, cut), text.substr(cut));
      }
    }
    std::shuffle(merges_.begin(), merges_.end(), random);
    if (random() % 2 == 0) {  // short tokens early, as training gives them
      std::stable_sort(merges_.begin(), merges_.end(), [](const auto& a, const auto& b) {
        return a.first.size() + a.second.size() < b.first.size() + b.second.size();
      });
    }
    for (uint32_t rank = 0; rank < merges_.size(); ++rank) {
      const auto& [left, right] = merges_[rank];
      ranks_.try_emplace({ids_.at(left), ids_.at(right)}, rank);
    }
  }

  Bpe create(bool ignore_merges) const {
    std::vector<std::string> kept;
    const auto in_alphabet = [&](const std::string& bytes) {
      std::string text;
      for (const char byte : bytes) text += character_of(static_cast<uint8_t>(byte));
      kept.push_back(text);
    };
    kept.reserve(texts_.size() + 2 * merges_.size());
    std::vector<std::string_view> texts;
    for (const std::string& text : texts_) {
      in_alphabet(text);
      texts.push_back(kept.back());
    }
    std::vector<Bpe::MergeTexts> merges;
    for (const auto& [left, right] : merges_) {
      in_alphabet(left);
      in_alphabet(right);
      merges.push_back({kept[kept.size() - 2], kept.back()});
    }
    const std::vector<uint8_t> attributes(texts.size(), 0);
    return *Bpe::create({.texts = texts,
                         .attributes = attributes,
                         .merges = merges,
                         .ignore_merges = ignore_merges,
                         .texts_key = "texts",
                         .merges_key = "merges"});
  }

  std::vector<int32_t> encode_naively(std::string_view word, bool ignore_merges) const {
    const auto whole = ids_.find(std::string(word));
    if (ignore_merges && whole != ids_.end()) return {whole->second};
    std::vector<std::string> symbols;
    for (const char byte : word) symbols.emplace_back(1, byte);
    for (;;) {
      size_t best = symbols.size();
      uint32_t best_rank = 0;
      for (size_t i = 0; i + 1 < symbols.size(); ++i) {
        const auto found = ranks_.find({ids_.at(symbols[i]), ids_.at(symbols[i + 1])});
        if (found == ranks_.end()) continue;
        if (best == symbols.size() || found->second < best_rank) {
          best = i;
          best_rank = found->second;
        }
      }
      if (best == symbols.size()) break;
      symbols[best] += symbols[best + 1];
      symbols.erase(symbols.begin() + static_cast<int64_t>(best) + 1);
    }
    std::vector<int32_t> ids;
    for (const std::string& symbol : symbols) ids.push_back(ids_.at(symbol));
    return ids;
  }

 private:
  void add(const std::string& text) {
    if (ids_.try_emplace(text, static_cast<int32_t>(texts_.size())).second) texts_.push_back(text);
  }

  std::vector<std::string> texts_;
  std::map<std::string, int32_t> ids_;
  std::vector<std::pair<std::string, std::string>> merges_;
  std::map<std::pair<int32_t, int32_t>, uint32_t> ranks_;
};

struct Encoded {
  std::vector<int32_t> ids;
  std::vector<plumb_span> spans;
};

Encoded encode(const Bpe& bpe, std::string_view text, bool with_spans,
               tokenizer::WordMemory& memory) {
  Encoded out;
  out.ids.resize(text.size() + 8);
  out.spans.resize(out.ids.size());
  auto result = make_abi<plumb_encode_result>();
  result.ids = out.ids.data();
  result.spans = with_spans ? out.spans.data() : nullptr;
  result.capacity = out.ids.size();
  tokenizer::IdWriter writer(result);
  bpe.encode(Pattern::kQwen2, tokenizer::MappedView(text), memory, writer);
  out.ids.resize(result.n);
  out.spans.resize(result.n);
  return out;
}

TEST(Bpe, MergesInTheNaiveOrder) {
  const std::vector<std::vector<std::string>> alphabets = {
      {"a", "b", "ab"},
      {"é", "è", "é", "e", "ĩ"},
      {"中", "丮", "个", "一", "丨"},
      {"中", "体", "佀", "é", "a"},
      {"ア", "ィ", "ー", "ぁ", "中"},
      {"𠀀", "𠀁", "中", "a", "é"},
  };
  std::mt19937 random(8);
  for (int round = 0; round < 800; ++round) {
    const std::vector<std::string>& characters = alphabets[random() % alphabets.size()];
    const RandomVocabulary vocabulary(random, characters);
    const bool ignore_merges = random() % 2 == 0;
    const Bpe bpe = vocabulary.create(ignore_merges);
    tokenizer::WordMemory memory;
    for (int i = 0; i < 60; ++i) {
      std::string text;
      const size_t n_characters = random() % 8 == 0 ? random() % 120 : random() % 14;
      for (size_t n = n_characters; n-- > 0;) {
        text += random() % 20 == 0 ? " " : characters[random() % characters.size()];
      }
      std::vector<int32_t> expected;
      WordCursor cursor(Pattern::kQwen2, text);
      for (size_t begin = 0, end = 0; cursor.next(&begin, &end);) {
        const auto ids = vocabulary.encode_naively(
            std::string_view(text).substr(begin, end - begin), ignore_merges);
        expected.insert(expected.end(), ids.begin(), ids.end());
      }
      const bool with_spans = random() % 2 == 0;
      const Encoded ours = encode(bpe, text, with_spans, memory);
      ASSERT_EQ(ours.ids, expected) << text;
      if (!with_spans) continue;
      size_t end = 0;
      for (size_t at = 0; at < ours.ids.size(); ++at) {
        ASSERT_EQ(ours.spans[at].begin, end);
        end = ours.spans[at].end;
        ASSERT_EQ(text.substr(ours.spans[at].begin, end - ours.spans[at].begin),
                  bpe.piece(ours.ids[at]));
      }
      ASSERT_EQ(end, text.size());
    }
  }
}

TEST(Bpe, SizesThatItCannotHold) {
  const std::vector<std::string_view> texts(PairIndex::kMostIds + 1);
  const Result<Bpe> made = Bpe::create({.texts = texts,
                                        .attributes = {},
                                        .merges = {},
                                        .ignore_merges = false,
                                        .texts_key = "texts",
                                        .merges_key = "merges"});
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, PLUMB_UNSUPPORTED);
  EXPECT_EQ(made.error().message, "texts: 2097153 tokens, at most 2097152 expected");
}

}  // namespace
}  // namespace plumbline::tokenizers::hf
