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
  return n_answers == 0 && attempt == 0 ? seed : derived_seed(seed, n_answers, attempt);
}

}  // namespace plumbline::conversation
