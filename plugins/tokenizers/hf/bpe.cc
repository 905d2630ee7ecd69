#include "bpe.h"

#include <algorithm>
#include <utility>

#include "byte_alphabet.h"

namespace plumbline::tokenizers::hf {
namespace {

using tokenizer::IdWriter;
using tokenizer::MappedView;
using tokenizer::Merge;
using tokenizer::Merger;
using tokenizer::Symbol;
using tokenizer::TokenIndex;
using tokenizer::WordMemory;

constexpr uint32_t kNone = PairIndex::kNone;
constexpr uint32_t kLiteral = PLUMB_TOKEN_CONTROL | PLUMB_TOKEN_UNKNOWN | PLUMB_TOKEN_USER_DEFINED;

Error corrupt(std::string_view key, const std::string& what) {
  return {PLUMB_CORRUPT, std::string(key) + ": " + what};
}

}  // namespace

Result<Bpe> Bpe::create(const Source& source) {
  if (source.texts.size() > static_cast<size_t>(PairIndex::kMostIds)) {
    return Error{PLUMB_UNSUPPORTED, std::string(source.texts_key) + ": " +
                                        std::to_string(source.texts.size()) + " tokens, at most " +
                                        std::to_string(PairIndex::kMostIds) + " expected"};
  }
  TokenIndex index(source.texts);
  if (const auto twins = index.insert_all(source.texts.size()); twins.first >= 0) {
    return corrupt(source.texts_key, "tokens " + std::to_string(twins.first) + " and " +
                                         std::to_string(twins.second) + " are the same");
  }
  Bpe made;
  made.has_all_bytes_ = true;
  for (uint32_t byte = 0; byte < made.byte_ids_.size(); ++byte) {
    made.byte_ids_[byte] = index.find(character_of(static_cast<uint8_t>(byte)));
    made.has_all_bytes_ &= made.byte_ids_[byte] >= 0;
  }
  made.read_pieces(source);
  std::vector<std::string_view> pieces(source.texts.size());
  for (size_t id = 0; id < pieces.size(); ++id) pieces[id] = made.piece(static_cast<int32_t>(id));
  made.characters_ = CharacterMerges(pieces);
  PLUMB_TRY(made.read_merges(source, index));
  made.characters_.build(pieces, made.byte_ids_, made.joined_, made.pairs_);
  if (source.ignore_merges) made.read_words(source, pieces);
  return made;
}

void Bpe::read_pieces(const Source& source) {
  size_t n_bytes = 0;
  for (const std::string_view text : source.texts) n_bytes += text.size();
  std::string bytes;
  bytes.reserve(n_bytes);
  piece_ends_.reserve(source.texts.size() + 1);
  piece_ends_.push_back(0);
  for (size_t id = 0; id < source.texts.size(); ++id) {
    const bool is_bytes =
        (source.attributes[id] & kLiteral) == 0 && append_bytes_of(source.texts[id], bytes);
    if (!is_bytes) bytes.append(source.texts[id]);
    piece_ends_.push_back(static_cast<uint32_t>(bytes.size()));
  }
  piece_bytes_.assign(bytes.begin(), bytes.end());
}

Result<void> Bpe::read_merges(const Source& source, const TokenIndex& index) {
  const std::span<const MergeTexts> merges = source.merges;
  if (merges.size() >= PairIndex::kMostPairs) {
    return Error{PLUMB_UNSUPPORTED, std::string(source.merges_key) + ": " +
                                        std::to_string(merges.size()) + " merges, at most " +
                                        std::to_string(PairIndex::kMostPairs - 1) + " expected"};
  }
  pairs_ = PairIndex(merges.size());
  joined_.resize(merges.size());
  constexpr size_t kAtOnce = 64;  // merges whose ways to memory overlap
  std::string_view sides[2 * kAtOnce];
  int32_t ids[2 * kAtOnce];
  std::string text;
  int32_t joined = -1;
  // Files that are sorted name the tokens in the order of their ids.
  const auto is_joined = [&](int32_t id, const MergeTexts& merge) {
    if (static_cast<size_t>(id) >= source.texts.size()) return false;
    const std::string_view whole = source.texts[id];
    return whole.size() == merge.left.size() + merge.right.size() &&
           whole.starts_with(merge.left) && whole.ends_with(merge.right);
  };
  for (uint32_t begin = 0; begin < merges.size(); begin += kAtOnce) {
    const uint32_t n = static_cast<uint32_t>(std::min(kAtOnce, merges.size() - begin));
    for (uint32_t i = 0; i < n; ++i) {
      sides[2 * i] = merges[begin + i].left;
      sides[2 * i + 1] = merges[begin + i].right;
    }
    index.find_all({sides, 2 * n}, ids);
    for (uint32_t i = 0; i < n; ++i) pairs_.prefetch(ids[2 * i], ids[2 * i + 1]);
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t rank = begin + i;
      const MergeTexts& merge = merges[rank];
      if (is_joined(joined + 1, merge)) {
        ++joined;
      } else if (joined < 0 || !is_joined(joined, merge)) {
        text.assign(merge.left).append(merge.right);
        joined = index.find(text);
      }
      const int32_t left = ids[2 * i], right = ids[2 * i + 1];
      if (left < 0 || right < 0 || joined < 0) {
        return corrupt(source.merges_key,
                       "merge " + std::to_string(rank) +
                           " names or makes a token that the vocabulary does not have");
      }
      joined_[rank] = joined;
      const bool is_text =
          (source.attributes[joined] & (PLUMB_TOKEN_CONTROL | PLUMB_TOKEN_UNKNOWN)) == 0;
      if (!is_text) continue;
      pairs_.insert(left, right, rank);
      characters_.add(left, right, rank);
    }
  }
  return {};
}

void Bpe::read_words(const Source& source, std::span<const std::string_view> pieces) {
  words_.resize(pieces.size());
  std::string bytes;
  for (size_t id = 0; id < pieces.size(); ++id) {
    if (source.attributes[id] != 0) continue;
    bytes.clear();
    if (append_bytes_of(source.texts[id], bytes)) words_[id] = pieces[id];
  }
  word_index_ = std::make_unique<TokenIndex>(words_);
  word_index_->insert_all(words_.size());
}

void Bpe::encode(Pattern pattern, const MappedView& view, WordMemory& memory, IdWriter& out) const {
  const std::string_view text = view.text();
  WordCursor cursor(pattern, text);
  for (size_t begin = 0, end = 0; cursor.next(&begin, &end);) {
    const std::string_view word = text.substr(begin, end - begin);
    if (!has_all_bytes_) {
      put_with_holes(view.part(begin, end), memory.merger, out);
      continue;
    }
    const size_t readable = text.size() - begin;
    const auto put = [&](std::span<const int32_t> ids) {
      if (!out.wants_spans()) return out.put(ids);
      size_t at = begin;
      for (const int32_t id : ids) {
        const size_t piece_end = at + piece(id).size();
        out.put(id, view.source(at, piece_end));
        at = piece_end;
      }
    };
    const auto put_cached = [&](auto& cache) {
      using Cache = std::remove_reference_t<decltype(cache)>;
      const typename Cache::Key key(word, readable);
      if (const int32_t* known = cache.find(key)) {
        const size_t n = cache.count(known);
        return out.wants_spans() ? put({known, n}) : out.put<Cache::kMostIds>(known, n);
      }
      encode_word(word, readable, memory);
      cache.store(key, memory.ids);
      put(memory.ids);
    };
    if (memory.short_words.fits(word)) {
      put_cached(memory.short_words);
    } else if (memory.longer_words.fits(word) && static_cast<uint8_t>(word[1]) < 0x80) {
      put_cached(memory.longer_words);  // not for runs of Han and the like, which seldom come again
    } else {
      encode_word(word, readable, memory);
      put(memory.ids);
    }
  }
}

/// Leaves the ids of a word in memory.ids.
void Bpe::encode_word(std::string_view word, size_t readable, WordMemory& memory) const {
  std::vector<int32_t>& out = memory.ids;
  out.clear();
  if (const int32_t id = whole_word(word); id >= 0) return out.push_back(id);
  const auto append = [&](std::span<const int32_t> ids) {
    out.insert(out.end(), ids.begin(), ids.end());
  };
  int32_t ids[kShortWord];
  for (size_t at = 0; at < word.size();) {
    const CharacterMerges::Run run = characters_.next_run(word, at, ids, kShortWord);
    const std::string_view part = word.substr(at, run.end - at);
    if (run.n == 1) {
      out.push_back(ids[0]);
    } else if (run.n > kShortWord) {
      merge_long(part, Barred(), memory.merger);
      const std::vector<Symbol>& symbols = memory.merger.symbols;
      for (uint32_t i = 0; i != tokenizer::kNoSymbol; i = symbols[i].next)
        out.push_back(symbols[i].id);
    } else if (part.size() == word.size() || !memory.short_words.fits(part)) {
      append({ids, merge_short(ids, run.n)});
    } else {
      const uint64_t kind = word_index_ == nullptr ? 0 : 1;  // a part is no word without merges
      const decltype(memory.short_words)::Key key(part, readable - at, kind);
      if (const int32_t* known = memory.short_words.find(key)) {
        append({known, memory.short_words.count(known)});
      } else {
        const size_t n = merge_short(ids, run.n);
        memory.short_words.store(key, {ids, n});
        append({ids, n});
      }
    }
    at = run.end;
  }
}

/// For vocabularies without a token for every byte.
void Bpe::put_with_holes(const MappedView& word, Merger& merger, IdWriter& out) const {
  if (const int32_t id = whole_word(word.text()); id >= 0) {
    return out.put(id, word.source(0, word.text().size()));
  }
  merge_long(word.text(), Barred(), merger);
  const std::vector<Symbol>& symbols = merger.symbols;
  for (uint32_t at = symbols.empty() ? tokenizer::kNoSymbol : 0; at != tokenizer::kNoSymbol;
       at = symbols[at].next) {
    out.put(symbols[at].id, word.source(symbols[at].begin, symbols[at].end));
  }
}

/// Merges up to kShortWord symbols; returns how many are left. In each round the best pair of all,
/// the leftmost of equals.
size_t Bpe::merge_short(int32_t* ids, size_t n) const {
  uint32_t ranks[kShortWord];  // of ids[i] with ids[i + 1]
  for (size_t i = 0; i + 1 < n; ++i) ranks[i] = pairs_.find(ids[i], ids[i + 1]);
  while (n > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < n; ++i) {
      if (ranks[i] < ranks[best]) best = i;
    }
    if (ranks[best] == kNone) break;
    ids[best] = joined_[ranks[best]];
    --n;
    for (size_t i = best + 1; i < n; ++i) ids[i] = ids[i + 1];
    for (size_t i = best + 1; i + 1 < n; ++i) ranks[i] = ranks[i + 1];
    if (best > 0) ranks[best - 1] = pairs_.find(ids[best - 1], ids[best]);
    if (best + 1 < n) ranks[best] = pairs_.find(ids[best], ids[best + 1]);
  }
  return n;
}

void Bpe::merge_word(std::string_view word, Barred barred, Merger& merger) const {
  const int32_t id = whole_word(word);
  if (id < 0 || barred.has(id)) return merge_long(word, barred, merger);
  merger.clear();
  merger.add(0, static_cast<uint32_t>(word.size()), id);
}

/// Leaves the symbols of a word of any length in the merger.
void Bpe::merge_long(std::string_view word, Barred barred, Merger& merger) const {
  merger.clear();
  const uint32_t n_bytes = static_cast<uint32_t>(word.size());
  for (uint32_t i = 0; i < n_bytes; ++i) {
    const int32_t id = byte_ids_[static_cast<uint8_t>(word[i])];
    if (id >= 0) merger.add(i, i + 1, id);
  }
  merger.run([&](const Symbol& left, const Symbol& right) -> Merge {
    const uint32_t rank = pairs_.find(left.id, right.id);
    return {rank, rank == kNone || barred.has(joined_[rank]) ? -1 : joined_[rank]};
  });
}

/// The token that this word is without merges, or -1.
int32_t Bpe::whole_word(std::string_view word) const {
  return word_index_ == nullptr ? -1 : word_index_->find(word);
}

}  // namespace plumbline::tokenizers::hf
