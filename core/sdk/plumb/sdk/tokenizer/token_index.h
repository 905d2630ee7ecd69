// token_index.h: bytes -> token id, an open-addressing table over views.
#pragma once

#include <algorithm>
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

/// Up to eight bytes as a number. Reads of a fixed size that may overlap: their number does not
/// hang on how many bytes there are.
inline uint64_t read_bytes(const char* data, size_t n) {
  if (n >= 8) {
    uint64_t all = 0;
    std::memcpy(&all, data, 8);
    return all;
  }
  if (n >= 4) {
    uint32_t first = 0, last = 0;
    std::memcpy(&first, data, 4);
    std::memcpy(&last, data + n - 4, 4);
    return static_cast<uint64_t>(last) << 32 | first;
  }
  if (n == 0) return 0;
  const auto byte = [&](size_t i) { return static_cast<uint64_t>(static_cast<uint8_t>(data[i])); };
  return byte(0) | byte(n / 2) << 8 | byte(n - 1) << 16;
}

inline uint64_t hash_bytes(std::string_view bytes, uint64_t seed) {
  const char* data = bytes.data();
  size_t n = bytes.size();
  uint64_t state = seed ^ n * 0x9E3779B97F4A7C15u;
  for (; n > 8; n -= 8, data += 8) {
    state = fold_multiply(state ^ read_bytes(data, 8), 0xBF58476D1CE4E5B9u);
  }
  return fold_multiply(state ^ read_bytes(data, n), 0x94D049BB133111EBu);
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
  int32_t insert(int32_t id) { return insert(id, hash_bytes(keys_[id], seed_)); }

  struct Twins {
    int32_t first;  ///< -1: there are none
    int32_t second;
  };
  /// Adds the keys of all n_ids ids but empty ones; the first two that are the same end it.
  Twins insert_all(size_t n_ids) {
    uint64_t hashes[kAtOnce];
    for (size_t begin = 0; begin < n_ids; begin += kAtOnce) {
      const size_t n = std::min(kAtOnce, n_ids - begin);
      for (size_t i = 0; i < n; ++i) {
        hashes[i] = hash_bytes(keys_[begin + i], seed_);
        __builtin_prefetch(&slots_[hashes[i] & mask_], 1);
      }
      for (size_t i = 0; i < n; ++i) {
        const int32_t id = static_cast<int32_t>(begin + i);
        if (keys_[id].empty()) continue;
        if (const int32_t first = insert(id, hashes[i]); first >= 0) return {first, id};
      }
    }
    return {-1, -1};
  }

  /// The id with this key, or -1.
  int32_t find(std::string_view key) const { return find(key, hash_bytes(key, seed_)); }

  /// find for many keys: ids[i] is that of keys[i].
  void find_all(std::span<const std::string_view> keys, int32_t* ids) const {
    uint64_t hashes[kAtOnce];
    for (size_t begin = 0; begin < keys.size(); begin += kAtOnce) {
      const size_t n = std::min(kAtOnce, keys.size() - begin);
      for (size_t i = 0; i < n; ++i) {
        hashes[i] = hash_bytes(keys[begin + i], seed_);
        __builtin_prefetch(&slots_[hashes[i] & mask_]);
      }
      for (size_t i = 0; i < n; ++i) {
        const int32_t likely = slots_[hashes[i] & mask_].id;
        if (likely >= 0) __builtin_prefetch(&keys_[likely]);
      }
      for (size_t i = 0; i < n; ++i) {
        const int32_t likely = slots_[hashes[i] & mask_].id;
        if (likely >= 0) __builtin_prefetch(keys_[likely].data());
      }
      for (size_t i = 0; i < n; ++i) ids[begin + i] = find(keys[begin + i], hashes[i]);
    }
  }

 private:
  // So many keys are looked up at once that their ways to memory overlap.
  static constexpr size_t kAtOnce = 64;

  struct Slot {
    uint32_t tag = 0;
    int32_t id = -1;
  };
  static uint32_t tag_of(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }

  int32_t insert(int32_t id, uint64_t hash) {
    size_t at = hash & mask_;
    for (; slots_[at].id >= 0; at = (at + 1) & mask_) {
      if (slots_[at].tag == tag_of(hash) && keys_[slots_[at].id] == keys_[id]) return slots_[at].id;
    }
    slots_[at] = {tag_of(hash), id};
    return -1;
  }

  int32_t find(std::string_view key, uint64_t hash) const {
    for (size_t at = hash & mask_; slots_[at].id >= 0; at = (at + 1) & mask_) {
      if (slots_[at].tag == tag_of(hash) && keys_[slots_[at].id] == key) return slots_[at].id;
    }
    return -1;
  }

  const std::string_view* keys_;
  std::vector<Slot> slots_;
  size_t mask_;
  uint64_t seed_;
};

}  // namespace plumbline::tokenizer
