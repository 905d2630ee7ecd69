// seeds.h: a seed of its own for every answer of a conversation.
#pragma once

#include <cstdint>

#include "plumb/sdk/philox.h"

namespace plumbline::conversation {

/// The seed of the answer behind n_answers others, at the n-th attempt. Coins are keyed by (seed,
/// step), and every answer begins with step 0: with one seed for all of them, each would see the
/// coins of the first. The first answer's first attempt has the seed itself, as a single
/// generation.
constexpr uint64_t seed_of_answer(uint64_t seed, uint64_t n_answers, uint32_t attempt) {
  if (n_answers == 0 && attempt == 0) return seed;
  // Of the counter's words the last tells these from the coins' (philox.h has 0 and 1).
  constexpr uint32_t kSeeds = 2;
  const auto words = philox4x32_10(
      {static_cast<uint32_t>(n_answers), static_cast<uint32_t>(n_answers >> 32), attempt, kSeeds},
      {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  return uint64_t{words[1]} << 32 | words[0];
}

}  // namespace plumbline::conversation
