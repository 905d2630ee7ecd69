// token_index.h: bytes -> token id, an open-addressing table over views.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace plumbline::tokenizer {

/// Both halves of the 128-bit product, folded: every input bit reaches every output bit.
inline uint64_t fold_multiply(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline uint64_t hash_bytes(std::string_view bytes, uint64_t seed) {
  const char* data = bytes.data();
  size_t n = bytes.size();
  uint64_t state = seed ^ n * 0x9E3779B97F4A7C15u;
  uint64_t chunk = 0;
  for (; n > 8; n -= 8, data += 8) {
    std::memcpy(&chunk, data, 8);
    state = fold_multiply(state ^ chunk, 0xBF58476D1CE4E5B9u);
  }
  chunk = 0;
  if (n > 0) std::memcpy(&chunk, data, n);
  return fold_multiply(state ^ chunk, 0x94D049BB133111EBu);
}

/// Where a table lives differs from run to run: a file cannot be made whose keys all fall on one
/// slot.
inline uint64_t seed_from_address(const void* address) {
  return fold_multiply(reinterpret_cast<uintptr_t>(address), 0xD6E8FEB86659FD93u);
}

/// Smallest power of two with room for n entries at a load of at most one half.
inline size_t table_slots(size_t n) {
  size_t slots = 16;
  while (slots < 2 * n) slots *= 2;
  return slots;
}

class TokenIndex {
 public:
  /// keys[id] must outlive the index and not move.
  explicit TokenIndex(std::span<const std::string_view> keys)
      : keys_(keys.data()),
        slots_(table_slots(keys.size())),
        mask_(slots_.size() - 1),
        seed_(seed_from_address(slots_.data())) {}

  /// Adds keys[id]; returns the id that has this key already, or -1.
  int32_t insert(int32_t id) {
    const uint64_t hash = hash_bytes(keys_[id], seed_);
    size_t at = hash & mask_;
    for (; slots_[at].id >= 0; at = (at + 1) & mask_) {
      if (slots_[at].tag == tag_of(hash) && keys_[slots_[at].id] == keys_[id]) return slots_[at].id;
    }
    slots_[at] = {tag_of(hash), id};
    return -1;
  }

  /// The id with this key, or -1.
  int32_t find(std::string_view key) const {
    const uint64_t hash = hash_bytes(key, seed_);
    for (size_t at = hash & mask_; slots_[at].id >= 0; at = (at + 1) & mask_) {
      if (slots_[at].tag == tag_of(hash) && keys_[slots_[at].id] == key) return slots_[at].id;
    }
    return -1;
  }

 private:
  struct Slot {
    uint32_t tag = 0;
    int32_t id = -1;
  };
  static uint32_t tag_of(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }

  const std::string_view* keys_;
  std::vector<Slot> slots_;
  size_t mask_;
  uint64_t seed_;
};

}  // namespace plumbline::tokenizer
