// merge.h: joins neighbouring symbols, best pair first, until none is left; and remembers short
// words.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "plumb/sdk/tokenizer/token_index.h"

namespace plumbline::tokenizer {

constexpr uint32_t kNoSymbol = 0xffffffffu;

/// A stretch [begin, end) of a word. Symbols form a doubly linked list in text order; the first one
/// stays first.
struct Symbol {
  uint32_t begin;
  uint32_t end;  // == begin once it has been joined to its left neighbour
  uint32_t previous;
  uint32_t next;
  int32_t id;
};

/// What two neighbours make: id -1 if nothing; the smaller priority is joined first.
struct Merge {
  uint32_t priority;
  int32_t id;
};

/// A score as a priority, the highest first; equal for +0 and -0.
inline uint32_t priority_of(float score) {
  const uint32_t bits = std::bit_cast<uint32_t>(score + 0.0f);
  return (bits & 0x80000000u) != 0 ? bits : ~bits & 0x7fffffffu;
}

/// Joins the best pair, at equal priority the leftmost, until no pair is left: O(n log n) for n
/// symbols.
class Merger {
 public:
  std::vector<Symbol> symbols;

  /// Starts a new word.
  void clear() { symbols.clear(); }
  void add(uint32_t begin, uint32_t end, int32_t id) {
    const uint32_t at = static_cast<uint32_t>(symbols.size());
    if (at > 0) symbols.back().next = at;
    symbols.push_back({begin, end, at == 0 ? kNoSymbol : at - 1, kNoSymbol, id});
  }

  /// lookup(left, right) -> Merge.
  template <typename Lookup>
  void run(const Lookup& lookup) {
    heap_.clear();
    for (uint32_t left = 0; left + 1 < symbols.size(); ++left) {
      if (const Candidate found = candidate(left, lookup); found.id >= 0) heap_.push_back(found);
    }
    std::make_heap(heap_.begin(), heap_.end(), worse);
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), worse);
      const Candidate best = heap_.back();
      heap_.pop_back();
      Symbol& left = symbols[best.left];
      // Out of date if either side has been joined to something else since.
      if (left.begin == left.end || left.next != best.right ||
          symbols[best.right].end != best.right_end)
        continue;
      Symbol& right = symbols[best.right];
      left.end = right.end;
      left.id = best.id;
      left.next = right.next;
      if (right.next != kNoSymbol) symbols[right.next].previous = best.left;
      right.end = right.begin;
      push(left.previous, lookup);
      push(best.left, lookup);
    }
  }

 private:
  struct Candidate {
    uint32_t priority;
    uint32_t left;
    uint32_t right;
    uint32_t right_end;
    int32_t id;
  };
  static bool worse(const Candidate& a, const Candidate& b) {
    return a.priority != b.priority ? a.priority > b.priority : a.left > b.left;
  }

  template <typename Lookup>
  Candidate candidate(uint32_t left, const Lookup& lookup) const {
    const uint32_t right = symbols[left].next;
    const Merge merge = lookup(symbols[left], symbols[right]);
    return {merge.priority, left, right, symbols[right].end, merge.id};
  }
  template <typename Lookup>
  void push(uint32_t left, const Lookup& lookup) {
    if (left == kNoSymbol || symbols[left].next == kNoSymbol) return;
    const Candidate found = candidate(left, lookup);
    if (found.id < 0) return;
    heap_.push_back(found);
    std::push_heap(heap_.begin(), heap_.end(), worse);
  }

  std::vector<Candidate> heap_;
};

/// A piece of a word: its token and where it lies, relative to the word's first byte.
struct Piece {
  uint32_t begin;
  uint32_t end;
  int32_t id;
};

/// Words seen lately and their pieces: a fixed number of slots, a newcomer replaces what its slot
/// held.
class WordCache {
 public:
  /// Null if the word is not here. The pointer holds until the next store.
  const Piece* find(std::string_view word, size_t* n_pieces) const {
    if (slots_.empty() || word.size() > kWordBytes) return nullptr;
    const Slot& slot = slots_[slot_of(word)];
    if (slot.n_bytes != word.size() || std::memcmp(slot.word, word.data(), word.size()) != 0)
      return nullptr;
    *n_pieces = slot.n_pieces;
    return slot.pieces;
  }

  void store(std::string_view word, const std::vector<Piece>& pieces) {
    if (word.empty() || word.size() > kWordBytes || pieces.size() > kPieces) return;
    if (slots_.empty()) slots_.resize(kSlots);
    Slot& slot = slots_[slot_of(word)];
    slot.n_bytes = static_cast<uint8_t>(word.size());
    slot.n_pieces = static_cast<uint8_t>(pieces.size());
    std::memcpy(slot.word, word.data(), word.size());
    std::copy(pieces.begin(), pieces.end(), slot.pieces);
  }

 private:
  static constexpr size_t kSlots = 8192;
  static constexpr size_t kWordBytes = 22;
  static constexpr size_t kPieces = 6;
  struct Slot {
    uint8_t n_bytes = 0;
    uint8_t n_pieces = 0;
    char word[kWordBytes] = {};
    Piece pieces[kPieces] = {};
  };
  static size_t slot_of(std::string_view word) { return hash_bytes(word, 0) % kSlots; }

  std::vector<Slot> slots_;
};

}  // namespace plumbline::tokenizer
