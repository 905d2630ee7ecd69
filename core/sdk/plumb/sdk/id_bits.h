// id_bits.h: sets of token ids as the ABI has them: bit id % 64 of word id / 64.
#pragma once

#include <cstdint>
#include <span>

namespace plumbline {

/// Words of the bits of a vocabulary.
constexpr uint64_t id_words(uint64_t n_vocab) {
  return n_vocab / 64 + (n_vocab % 64 != 0 ? 1 : 0);
}

/// id: of the vocabulary.
constexpr bool has_id(const uint64_t* bits, int32_t id) {
  return (bits[id / 64] >> (id % 64) & 1) != 0;
}
constexpr void add_id(uint64_t* bits, int32_t id) {
  bits[id / 64] |= uint64_t{1} << (id % 64);
}

/// The same for any id: what is outside of the bits is not in the set, and cannot be added.
constexpr bool has_id(std::span<const uint64_t> bits, int32_t id) {
  return id >= 0 && static_cast<uint32_t>(id) / 64 < bits.size() && has_id(bits.data(), id);
}
constexpr void add_id(std::span<uint64_t> bits, int32_t id) {
  if (id >= 0 && static_cast<uint32_t>(id) / 64 < bits.size()) add_id(bits.data(), id);
}

}  // namespace plumbline
