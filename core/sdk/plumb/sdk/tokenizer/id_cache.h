// id_cache.h: remembers the ids of words seen lately.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "plumb/sdk/tokenizer/token_index.h"

namespace plumbline::tokenizer {

/// Up to kBytes - 1 bytes and how many they are, as words that are compared and hashed at once.
template <size_t kBytes>
struct WordKey {
  uint64_t parts[kBytes / 8] = {};

  explicit WordKey() = default;
  /// readable: how many bytes may be read from the word's first one on, the word and what follows.
  WordKey(std::string_view word, size_t readable) {
    if (readable >= kBytes) {
      std::memcpy(parts, word.data(), kBytes);
      for (size_t i = 0; i < kBytes / 8; ++i) parts[i] &= mask_of(word.size(), i);
    } else {
      std::memcpy(parts, word.data(), word.size());
    }
    parts[kBytes / 8 - 1] |= static_cast<uint64_t>(word.size()) << kSizeShift;
  }

  bool operator==(const WordKey&) const = default;
  uint64_t hash() const {
    uint64_t state = fold_multiply(parts[0] ^ 0x9E3779B97F4A7C15u, parts[1] ^ 0xBF58476D1CE4E5B9u);
    for (size_t i = 2; i < kBytes / 8; i += 2) {
      state ^= fold_multiply(parts[i] ^ 0x94D049BB133111EBu, parts[i + 1] ^ 0xD6E8FEB86659FD93u);
    }
    return state;
  }

 private:
  /// The size lies in the byte that comes last in memory.
  static constexpr int kSizeShift = std::endian::native == std::endian::little ? 56 : 0;
  static uint64_t mask_of(size_t n_bytes, size_t part) {
    if (n_bytes >= 8 * part + 8) return ~uint64_t{0};
    if (n_bytes <= 8 * part) return 0;
    const size_t n_bits = 8 * (n_bytes - 8 * part);
    const uint64_t low = (uint64_t{1} << n_bits) - 1;
    return std::endian::native == std::endian::little ? low : ~(~uint64_t{0} >> n_bits);
  }
};

/// A fixed number of slots; a newcomer replaces what its slot held. Words of fewer than kBytes
/// bytes and at most kIds ids.
template <size_t kBytes, size_t kIds, size_t kSlots>
class IdCache {
 public:
  using Key = WordKey<kBytes>;
  static constexpr size_t kMostIds = kIds;
  static bool fits(std::string_view word) { return word.size() < kBytes; }

  /// kMostIds ids, of which those below zero are none and come last; null if the word is not here.
  /// Holds until the next store.
  const int32_t* find(const Key& key) {
    if (slots_.empty()) slots_.resize(kSlots);
    const Slot& slot = slots_[key.hash() % kSlots];
    return slot.key == key ? slot.ids : nullptr;
  }

  void store(const Key& key, std::span<const int32_t> ids) {
    if (ids.size() > kIds) return;
    Slot& slot = slots_[key.hash() % kSlots];
    slot.key = key;
    std::fill(std::copy(ids.begin(), ids.end(), slot.ids), slot.ids + kIds, -1);
  }

 private:
  struct alignas(kBytes + 4 * kIds) Slot {
    Key key;
    int32_t ids[kIds] = {};
  };

  std::vector<Slot> slots_;
};

}  // namespace plumbline::tokenizer
