// unigram_model.h: the likeliest way to write a word, by the tokens' log probabilities.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "byte_trie.h"
#include "model.h"

namespace plumbline::tokenizers::hf {

struct UnigramOptions {
  int32_t unknown_id = -1;
  bool byte_fallback = false;  ///< what is unknown becomes its <0xNN> tokens
  /// Where SentencePiece itself answers otherwise than the tokenizers library: sums of scores are
  /// f32; only tokens that are text, by their attributes, come out of a text; unknown characters
  /// side by side are never a token together.
  struct SentencePiece {
    float unknown_score;
    std::span<const uint8_t> attributes;  ///< borrowed while create runs
  };
  std::optional<SentencePiece> sentencepiece = std::nullopt;
};

/// Source  Kudo, "Subword Regularization", ACL 2018; the order of additions and the tie rule are
///         those of tokenizers, models/unigram/model.rs, encode_optimized, and of SentencePiece,
///         src/unigram_model.cc, EncodeOptimized.
class UnigramModel : public Model {
 public:
  /// tokens and scores by id; tokens are borrowed for the model's life.
  static Result<std::unique_ptr<UnigramModel>> create(std::span<const std::string_view> tokens,
                                                      std::vector<double> scores,
                                                      UnigramOptions options);

  /// Fails CORRUPT at a character that no token has, if there is no unknown token.
  Result<void> encode_word(std::string_view word, Barred barred, Scratch& scratch) const override;

 private:
  UnigramModel() = default;
  Result<void> find_best_paths(std::string_view word, Barred barred, Scratch& scratch) const;
  void put_unknown(std::string_view word, uint32_t begin, uint32_t end, Barred barred,
                   std::vector<tokenizer::Piece>& out) const;

  ByteTrie trie_;
  std::vector<double> scores_;
  double unknown_score_ = 0;
  int32_t unknown_id_ = -1;
  bool byte_fallback_ = false;
  bool is_sentencepiece_ = false;
  std::array<int32_t, 256> byte_ids_;
};

}  // namespace plumbline::tokenizers::hf
