// id_cache.h: remembers the ids of words seen lately.
#pragma once

#include <algorithm>
#include <array>
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
  /// kind: 0 to 7, tells words apart that have the same bytes.
  WordKey(std::string_view word, size_t readable, uint64_t kind = 0) {
    if (readable >= kBytes) {
      std::memcpy(parts, word.data(), kBytes);
      for (size_t i = 0; i < kBytes / 8; ++i) parts[i] &= kMasks[word.size()][i];
    } else {
      std::memcpy(parts, word.data(), word.size());
    }
    parts[kBytes / 8 - 1] |= (kind << 5 | word.size()) << kSizeShift;
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
  using Masks = std::array<std::array<uint64_t, kBytes / 8>, kBytes>;
  static constexpr Masks make_masks() {
    Masks masks{};
    for (size_t n_bytes = 0; n_bytes < kBytes; ++n_bytes) {
      for (size_t at = 0; at < n_bytes; ++at) {
        const size_t shift = std::endian::native == std::endian::little ? at % 8 : 7 - at % 8;
        masks[n_bytes][at / 8] |= uint64_t{0xFF} << 8 * shift;
      }
    }
    return masks;
  }
  static constexpr Masks kMasks = make_masks();  // the bytes of a word of each size
};

/// A fixed number of sets of two words. A newcomer takes the place of the older one of its set.
/// Words of fewer than kBytes bytes and at most kIds ids.
template <size_t kBytes, size_t kIds, size_t kSets>
class IdCache {
 public:
  static_assert(kBytes <= 32, "a size has five bits");
  using Key = WordKey<kBytes>;
  static constexpr size_t kMostIds = kIds;
  static bool fits(std::string_view word) { return word.size() < kBytes; }

  /// kMostIds ids, of which those below zero are none and come last; null if the word is not here.
  /// Holds until the next store.
  const int32_t* find(const Key& key) {
    if (sets_.empty()) sets_.resize(kSets);
    const Set& set = sets_[key.hash() % kSets];
    if (set.slots[0].key == key) return set.slots[0].ids;
    return set.slots[1].key == key ? set.slots[1].ids : nullptr;
  }
  static size_t count(const int32_t* ids) {
    size_t n = 0;
    for (size_t i = 0; i < kIds; ++i) n += ids[i] >= 0 ? 1 : 0;
    return n;
  }

  /// Of a word that is not here and not empty.
  void store(const Key& key, std::span<const int32_t> ids) {
    if (ids.empty() || ids.size() > kIds) return;
    Set& set = sets_[key.hash() % kSets];
    set.slots[1] = set.slots[0];
    set.slots[0].key = key;
    std::fill(std::copy(ids.begin(), ids.end(), set.slots[0].ids), set.slots[0].ids + kIds, -1);
  }

 private:
  struct Slot {
    Key key;
    int32_t ids[kIds] = {};
  };
  struct alignas(2 * sizeof(Slot)) Set {
    Slot slots[2];
  };

  std::vector<Set> sets_;
};

}  // namespace plumbline::tokenizer
