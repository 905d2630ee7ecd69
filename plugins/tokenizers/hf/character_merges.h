// character_merges.h: where merging may begin with whole characters, and which neighbours never
// merge.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "pair_index.h"

namespace plumbline::tokenizers::hf {

/// Merging begins with bytes, and most of the work on a text that is not ASCII is to make
/// characters of them. A character c whose merges lead to one token may stand as that token from
/// the start, and the outcome is the same, if, with M the latest rank among its merges,
///   1. no merge of rank below M joins a beginning of c, short of the whole, to what is before it,
///   2. no merge of rank below M joins an end of c, short of the whole, to what is behind it,
///   3. no merge of rank below M has the token c as a side.
/// Proof: as long as c is not whole, one of its own pairs is there, of rank M or earlier. By 1 and
/// 2 each pair that would break c comes later, so c becomes whole by its own merges alone, and
/// these touch nothing else. By 3 whatever is joined to c is joined later than M, thus after c is
/// whole in any case: to have c sooner changes no order of the other merges. The neighbours decide
/// 1 and 2; one byte of them is looked at.
///
/// Between two characters that stand as symbols, only a token can arise that has both side by side.
/// If there is none in the vocabulary, a word falls into two runs there, which merge apart.
class CharacterMerges {
 public:
  CharacterMerges() = default;
  /// pieces: the bytes of each id.
  explicit CharacterMerges(std::span<const std::string_view> pieces);
  /// Each merge of the vocabulary, the earliest first.
  void add(int32_t left, int32_t right, uint32_t rank) {
    const Edge& a = edges_[left];
    const Edge& b = edges_[right];
    if (a.is_character) lower(first_use_[left], rank);
    if (b.is_character) lower(first_use_[right], rank);
    const size_t at = cell(a.last, b.first);
    if (b.is_beginning) lower(before_[at], rank);
    if (a.begins_inside && !b.begins_inside) lower(behind_[at], rank);
  }
  /// After the last merge. byte_ids: the token of a byte alone.
  void build(std::span<const std::string_view> pieces, std::span<const int32_t, 256> byte_ids,
             std::span<const int32_t> joined, const PairIndex& pairs);

  struct Run {
    size_t end;
    size_t n;  ///< symbols; more than `most` if there was no room for all
  };
  /// Writes the symbols of a well-formed word's run that begins at `at`.
  Run next_run(std::string_view word, size_t at, int32_t* ids, size_t most) const;

 private:
  /// What add asks about a token's bytes.
  struct Edge {
    uint8_t first = 0;
    uint8_t last = 0;
    bool is_character = false;  // of two or three bytes
    bool is_beginning = false;  // one character's first bytes, short of the whole
    bool begins_inside = false;  // with a byte that continues a character
  };
  struct Whole {
    int32_t id = -1;  // -1: the character does not stand as one symbol
    uint32_t latest = 0;  // M
  };

  static size_t cell(uint8_t last, uint8_t first) { return static_cast<size_t>(last) << 8 | first; }
  static void lower(uint32_t& rank, uint32_t other) { rank = std::min(rank, other); }
  void add_neighbours(std::string_view piece);
  bool may_join(uint32_t left, uint32_t right) const {
    const uint32_t bit = bit_of(left, right);
    return (neighbours_[bit / 64] >> (bit % 64) & 1) != 0;
  }
  static uint32_t bit_of(uint32_t left, uint32_t right) {
    return (left * 0x9E3779B1u ^ right * 0x85EBCA6Bu) >> (32 - kLogBits);
  }
  static constexpr uint32_t kLogBits = 20;

  std::vector<Edge> edges_;  // by id; up to build
  std::vector<uint32_t> first_use_;  // of each id that is a character, as a side of a merge
  std::array<int32_t, 256> byte_ids_{};
  std::vector<Whole> wholes_;  // by code point, below U+10000
  // The earliest rank of 1, by the last byte before c and the first one of c; that of 2, by the
  // last byte of c and the first one behind it.
  std::vector<uint32_t> before_;
  std::vector<uint32_t> behind_;
  // A bit for each two characters that a token has side by side, by a hash: a set bit may be by
  // chance.
  std::vector<uint64_t> neighbours_;
};

}  // namespace plumbline::tokenizers::hf
