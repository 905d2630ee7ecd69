// pair_index.h: (left id, right id) -> what they merge into and how early.
#pragma once

#include <cstdint>
#include <vector>

#include "plumb/sdk/tokenizer/merge.h"
#include "plumb/sdk/tokenizer/token_index.h"

namespace plumbline::tokenizers::hf {

class PairIndex {
 public:
  PairIndex() : PairIndex(0) {}
  explicit PairIndex(size_t n_pairs)
      : slots_(tokenizer::table_slots(n_pairs)),
        mask_(slots_.size() - 1),
        seed_(tokenizer::seed_from_address(slots_.data()) | 1) {}

  /// Keeps the earlier of two merges of the same pair.
  void insert(int32_t left, int32_t right, tokenizer::Merge merge) {
    const uint64_t key = key_of(left, right);
    size_t at = slot_of(key);
    for (; slots_[at].merge.id >= 0; at = (at + 1) & mask_) {
      if (slots_[at].key == key) return;
    }
    slots_[at] = {key, merge};
  }

  /// Merge.id is -1 if the pair does not merge.
  tokenizer::Merge find(int32_t left, int32_t right) const {
    const uint64_t key = key_of(left, right);
    size_t at = slot_of(key);
    while (slots_[at].merge.id >= 0 && slots_[at].key != key) at = (at + 1) & mask_;
    return slots_[at].merge;
  }

 private:
  struct Slot {
    uint64_t key = 0;
    tokenizer::Merge merge = {0, -1};
  };
  static uint64_t key_of(int32_t left, int32_t right) {
    return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  }
  size_t slot_of(uint64_t key) const {
    return tokenizer::fold_multiply(key ^ seed_, 0x9E3779B97F4A7C15u) & mask_;
  }

  std::vector<Slot> slots_;
  size_t mask_;
  uint64_t seed_;
};

}  // namespace plumbline::tokenizers::hf
