#include "characters_model.h"

#include <algorithm>
#include <utility>

#include "plumb/sdk/utf8.h"

namespace plumbline::tokenizers::hf {
namespace {

using tokenizer::Merge;
using tokenizer::Merger;
using tokenizer::Symbol;

std::string fallback_token(uint8_t byte) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  return {'<', '0', 'x', kDigits[byte >> 4], kDigits[byte & 15], '>'};
}

/// Symbols one behind the other, each as long as what it was made of: what they are made of may
/// be longer than the word (suffixes), then the rest lies at the word's end.
class SymbolWriter {
 public:
  explicit SymbolWriter(Merger& merger) : merger_(merger) {}
  void put(int32_t id, size_t n_bytes) {
    const uint32_t begin = end_;
    end_ += static_cast<uint32_t>(n_bytes);
    merger_.add(begin, end_, id);
  }

 private:
  Merger& merger_;
  uint32_t end_ = 0;
};

}  // namespace

Result<std::unique_ptr<CharactersModel>> CharactersModel::create(
    std::vector<std::string_view> tokens, std::span<const Bpe::MergeTexts> merges,
    CharactersOptions options) {
  if (tokens.size() > static_cast<size_t>(PairIndex::kMostIds) ||
      merges.size() >= PairIndex::kMostPairs) {
    return Error{PLUMB_UNSUPPORTED, std::to_string(tokens.size()) + " tokens and " +
                                        std::to_string(merges.size()) + " merges, at most " +
                                        std::to_string(PairIndex::kMostIds) + " and " +
                                        std::to_string(PairIndex::kMostPairs - 1) + " expected"};
  }
  std::unique_ptr<CharactersModel> made(new CharactersModel(std::move(tokens), std::move(options)));
  PLUMB_TRY(made->index_tokens());
  PLUMB_TRY(made->read_merges(merges));
  return made;
}

CharactersModel::CharactersModel(std::vector<std::string_view> tokens, CharactersOptions options)
    : tokens_(std::move(tokens)), options_(std::move(options)), index_(tokens_) {}

Result<void> CharactersModel::index_tokens() {
  if (const auto twins = index_.insert_all(tokens_.size()); twins.first >= 0) {
    return Error{PLUMB_CORRUPT, "tokens " + std::to_string(twins.first) + " and " +
                                    std::to_string(twins.second) + " are the same"};
  }
  for (uint32_t byte = 0; byte < byte_ids_.size(); ++byte)
    byte_ids_[byte] = index_.find(fallback_token(static_cast<uint8_t>(byte)));
  return {};
}

/// Of two merges of the same pair the later counts: PairIndex keeps the first that it is given.
Result<void> CharactersModel::read_merges(std::span<const Bpe::MergeTexts> merges) {
  pairs_ = PairIndex(merges.size());
  joined_.resize(merges.size());
  constexpr size_t kAtOnce = 64;  // merges whose ways to memory overlap
  std::array<std::string_view, 3 * kAtOnce> keys;
  std::array<int32_t, 3 * kAtOnce> ids;
  std::array<std::string, kAtOnce> joined;
  const size_t n_prefix = options_.continuing_prefix.size();
  for (size_t end = merges.size(); end > 0;) {
    const size_t n = std::min(kAtOnce, end);
    for (size_t i = 0; i < n; ++i) {
      const auto& [left, right] = merges[end - 1 - i];
      joined[i].assign(left).append(right.substr(std::min(n_prefix, right.size())));
      keys[3 * i] = left;
      keys[3 * i + 1] = right;
      keys[3 * i + 2] = joined[i];
    }
    index_.find_all({keys.data(), 3 * n}, ids.data());
    for (size_t i = 0; i < n; ++i) pairs_.prefetch(ids[3 * i], ids[3 * i + 1]);
    for (size_t i = 0; i < n; ++i) {
      const size_t rank = end - 1 - i;
      if (ids[3 * i] < 0 || ids[3 * i + 1] < 0 || ids[3 * i + 2] < 0) {
        return Error{PLUMB_CORRUPT,
                     "merge " + std::to_string(rank) +
                         " names or makes a token that the vocabulary does not have"};
      }
      joined_[rank] = ids[3 * i + 2];
      pairs_.insert(ids[3 * i], ids[3 * i + 1], static_cast<uint32_t>(rank));
    }
    end -= n;
  }
  return {};
}

Result<void> CharactersModel::encode_word(std::string_view word, Barred barred,
                                          Scratch& scratch) const {
  scratch.pieces.clear();
  const uint32_t n_bytes = static_cast<uint32_t>(word.size());
  if (options_.ignore_merges) {
    if (const int32_t id = index_.find(word); id >= 0 && !barred.has(id)) {
      scratch.pieces.push_back({0, n_bytes, id});
      return {};
    }
  }
  Merger& merger = scratch.merger;
  merger.clear();
  PLUMB_TRY(add_characters(word, barred, scratch));
  merger.run([&](const Symbol& left, const Symbol& right) -> Merge {
    const uint32_t rank = pairs_.find(left.id, right.id);
    return {rank, rank == PairIndex::kNone || barred.has(joined_[rank]) ? -1 : joined_[rank]};
  });
  if (merger.symbols.empty()) return {};
  for (uint32_t at = 0; at != tokenizer::kNoSymbol; at = merger.symbols[at].next) {
    const Symbol& symbol = merger.symbols[at];
    scratch.pieces.push_back(
        {std::min(symbol.begin, n_bytes - 1), std::min(symbol.end, n_bytes), symbol.id});
  }
  return {};
}

/// Source  tokenizers, models/bpe/model.rs, merge_word. An unknown token is written when a known
/// character follows, so behind byte tokens that stand between.
Result<void> CharactersModel::add_characters(std::string_view word, Barred barred,
                                             Scratch& scratch) const {
  SymbolWriter out(scratch.merger);
  size_t n_unknown_bytes = 0;
  const auto end_unknown = [&] {
    if (n_unknown_bytes > 0) out.put(options_.unknown_id, n_unknown_bytes);
    n_unknown_bytes = 0;
  };
  std::string& text = scratch.text;
  for (size_t begin = 0, end = 0; begin < word.size(); begin = end) {
    end = begin + utf8::decode(word, begin).n_bytes;
    std::string_view key = word.substr(begin, end - begin);
    if (!options_.continuing_prefix.empty() || !options_.word_suffix.empty()) {
      text.clear();
      if (begin > 0) text.append(options_.continuing_prefix);
      text.append(key);
      if (end == word.size()) text.append(options_.word_suffix);
      PLUMB_TRY(scratch.allowance.take_growth(key.size(), text.size()));
      key = text;
    }
    if (const int32_t id = index_.find(key); id >= 0 && !barred.has(id)) {
      end_unknown();
      out.put(id, end - begin);
      continue;
    }
    const auto has_token = [&](char byte) { return byte_ids_[static_cast<uint8_t>(byte)] >= 0; };
    if (options_.byte_fallback && std::all_of(key.begin(), key.end(), has_token)) {
      for (const char byte : key) out.put(byte_ids_[static_cast<uint8_t>(byte)], 1);
      continue;
    }
    if (options_.lacks_unknown)
      return Error{PLUMB_CORRUPT, "model.unk_token: no token, and a character has no other"};
    if (options_.unknown_id < 0) continue;
    if (!options_.fuse_unknown) end_unknown();
    n_unknown_bytes += end - begin;
  }
  end_unknown();
  return {};
}

}  // namespace plumbline::tokenizers::hf
