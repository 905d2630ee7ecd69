// pair_index.h: (left id, right id) -> how early they merge.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "plumb/sdk/tokenizer/token_index.h"

namespace plumbline::tokenizers::hf {

/// Open addressing in slots of eight bytes: 21 bits for either id, 22 for the rank.
class PairIndex {
 public:
  static constexpr uint32_t kNone = std::numeric_limits<int32_t>::max();
  static constexpr int32_t kMostIds = 1 << 21;
  static constexpr uint32_t kMostPairs = 1 << 22;

  PairIndex() : PairIndex(0) {}
  /// For up to n_pairs, which is no more than kMostPairs.
  explicit PairIndex(size_t n_pairs)
      : slots_(tokenizer::table_slots(n_pairs), kEmpty),
        mask_(slots_.size() - 1),
        seed_(tokenizer::seed_from_address(slots_.data()) | 1) {}

  /// Keeps the first rank of a pair. Ids below kMostIds, a rank below kMostPairs - 1.
  void insert(int32_t left, int32_t right, uint32_t rank) {
    const uint64_t key = key_of(left, right);
    size_t at = slot_of(key);
    for (; slots_[at] != kEmpty; at = (at + 1) & mask_) {
      if (slots_[at] >> kRankBits == key) return;
    }
    slots_[at] = key << kRankBits | rank;
  }

  /// kNone if the pair does not merge.
  uint32_t find(int32_t left, int32_t right) const {
    const uint64_t key = key_of(left, right);
    for (size_t at = slot_of(key); slots_[at] != kEmpty; at = (at + 1) & mask_) {
      if (slots_[at] >> kRankBits == key) return slots_[at] & (kMostPairs - 1);
    }
    return kNone;
  }

  /// Brings the slot of a pair near, for an insert or find to come.
  void prefetch(int32_t left, int32_t right) const {
    __builtin_prefetch(&slots_[slot_of(key_of(left, right))]);
  }

 private:
  static constexpr int kRankBits = 22;
  static constexpr uint64_t kEmpty = ~uint64_t{0};

  static uint64_t key_of(int32_t left, int32_t right) {
    return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 21 | static_cast<uint32_t>(right);
  }
  size_t slot_of(uint64_t key) const {
    return tokenizer::fold_multiply(key ^ seed_, 0x9E3779B97F4A7C15u) & mask_;
  }

  std::vector<uint64_t> slots_;
  size_t mask_;
  uint64_t seed_;
};

}  // namespace plumbline::tokenizers::hf
