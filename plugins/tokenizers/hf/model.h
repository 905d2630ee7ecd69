// model.h: words to tokens, the part of a vocabulary that was trained.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "added_tokens.h"
#include "allowance.h"
#include "bpe.h"
#include "normalizer.h"
#include "plumb/sdk/result.h"
#include "plumb/sdk/tokenizer/merge.h"
#include "splitter.h"

namespace plumbline::tokenizers::hf {

/// Working memory of one encode call, kept for the next one.
struct Scratch {
  Allowance allowance;
  tokenizer::MappedText repaired;
  std::vector<AddedTokens::Match> literals;
  Normalizer::Storage normalised;
  std::vector<AddedTokens::Match> normalised_literals;
  SplitScratch split;
  std::vector<tokenizer::Piece> pieces;
  tokenizer::WordMemory words;  // byte-level BPE
  tokenizer::Merger merger;
  tokenizer::WordCache cache;
  /// Unigram: the best way to every byte.
  struct BestPath {
    double score;
    uint32_t begin;
    int32_t id;
  };
  std::vector<BestPath> best_paths;
  /// Scores: how long the left half was of which an unused token was last made, by id; pieces to
  /// come.
  std::unordered_map<int32_t, uint32_t> unused_halves;
  std::vector<tokenizer::Piece> waiting;
  std::string text;
};

class Model {
 public:
  virtual ~Model() = default;
  /// The byte-level BPE that this is, which takes whole texts with a splitter; or null.
  virtual const Bpe* bytes() const { return nullptr; }
  /// Leaves the pieces of a word that is not empty in scratch.pieces, in order of their ends. A
  /// barred token is as if the vocabulary did not have it, but for the unknown token.
  virtual Result<void> encode_word(std::string_view word, Barred barred,
                                   Scratch& scratch) const = 0;
};

}  // namespace plumbline::tokenizers::hf
