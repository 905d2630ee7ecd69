// word_models.h: WordPiece, the longest token at each place of a word, and WordLevel, whole words
// only.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "byte_trie.h"
#include "model.h"

namespace plumbline::tokenizers::hf {

struct WordPieceOptions {
  int32_t unknown_id = -1;
  std::string continuing_prefix;
  size_t longest_word = 100;  ///< characters; longer words are unknown
};

/// Both fail CORRUPT at an unknown word, if there is no unknown token.
/// Source  tokenizers, models/wordpiece/mod.rs and models/wordlevel/mod.rs.
class WordPieceModel : public Model {
 public:
  static Result<std::unique_ptr<WordPieceModel>> create(std::span<const std::string_view> tokens,
                                                        WordPieceOptions options);
  Result<void> encode_word(std::string_view word, Barred barred, Scratch& scratch) const override;

 private:
  explicit WordPieceModel(WordPieceOptions options) : options_(std::move(options)) {}

  ByteTrie trie_;
  WordPieceOptions options_;
  uint32_t continuing_root_ = ByteTrie::kRoot;
  bool has_continuing_ = true;
};

class WordLevelModel : public Model {
 public:
  WordLevelModel(std::span<const std::string_view> tokens, int32_t unknown_id);
  Result<void> encode_word(std::string_view word, Barred barred, Scratch& scratch) const override;

 private:
  std::vector<std::string_view> tokens_;
  tokenizer::TokenIndex index_;
  int32_t unknown_id_;
};

}  // namespace plumbline::tokenizers::hf
