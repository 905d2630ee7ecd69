// philox.h: random numbers as data: coins that depend on nothing but (seed, step) or (seed, step,
// id).
//
// Key and counter layout, and what the coins are for: core/doc/samplers.md.
#pragma once

#include <array>
#include <cstdint>

namespace plumbline {

/// Philox4x32-10: ten rounds that mix a 128-bit counter under a 64-bit key. Integers only: the same
/// everywhere. Source: Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as easy as 1, 2,
/// 3"; constants and known answers of the Random123 distribution.
constexpr std::array<uint32_t, 4> philox4x32_10(std::array<uint32_t, 4> counter,
                                                std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t even = uint64_t{0xD2511F53} * counter[0];
    const uint64_t odd = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(odd >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(odd),
               static_cast<uint32_t>(even >> 32) ^ counter[3] ^ key[1],
               static_cast<uint32_t>(even)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

namespace detail {

/// The counters' last word: no two uses share a block.
enum class CoinKind : uint32_t { kCdf = 0, kGumbel = 1, kXtc = 2, kSeed = 3 };

constexpr uint64_t coin_bits(uint64_t seed, uint64_t step, uint32_t id, CoinKind kind) {
  const auto words =
      philox4x32_10({static_cast<uint32_t>(step), static_cast<uint32_t>(step >> 32), id,
                     static_cast<uint32_t>(kind)},
                    {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  return uint64_t{words[1]} << 32 | words[0];
}

}  // namespace detail

/// The coin of the inverse-CDF draw: a multiple of 2^-53 in [0, 1).
constexpr double coin_cdf(uint64_t seed, uint64_t step) {
  return static_cast<double>(detail::coin_bits(seed, step, 0, detail::CoinKind::kCdf) >> 11) *
         0x1p-53;
}

/// The coin of one id in the Gumbel-max draw: an odd multiple of 2^-53, so in (0, 1) without either
/// end.
constexpr double coin_gumbel(uint64_t seed, uint64_t step, int32_t id) {
  const uint64_t bits =
      detail::coin_bits(seed, step, static_cast<uint32_t>(id), detail::CoinKind::kGumbel);
  return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
}

/// The coin that decides whether xtc acts: as coin_cdf, from counters of its own.
constexpr double coin_xtc(uint64_t seed, uint64_t step) {
  return static_cast<double>(detail::coin_bits(seed, step, 0, detail::CoinKind::kXtc) >> 11) *
         0x1p-53;
}

/// A seed made of another one, for the attempt-th try at the index-th thing that needs its own.
constexpr uint64_t derived_seed(uint64_t seed, uint64_t index, uint32_t attempt) {
  return detail::coin_bits(seed, index, attempt, detail::CoinKind::kSeed);
}

}  // namespace plumbline
