// campaign.h: many texts and id lists through one pair of tokenizers.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tokenizer_pair.h"

namespace plumbline::fuzz {

struct Campaign {
  uint64_t n_texts = 2000;
  uint64_t seed = 1;
  std::string corpus;  // real text
  size_t n_differences_max = 10;
};

struct Findings {
  uint64_t n_texts = 0;
  uint64_t n_bytes = 0;
  std::vector<nlohmann::json> differences;  // minimised, with the index of the text
};

/// Each text with special tokens parsed, off, and barred from random ranges, and an id list decoded
/// for each. Stops at
/// n_differences_max.
Findings run(const TokenizerPair& pair, const Campaign& campaign);

}  // namespace plumbline::fuzz
