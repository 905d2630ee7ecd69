// characters_model.h: byte-pair encoding of characters, by ranked merges.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model.h"
#include "pair_index.h"
#include "plumb/sdk/tokenizer/token_index.h"

namespace plumbline::tokenizers::hf {

struct CharactersOptions {
  bool ignore_merges = false;  ///< a word that is a token is that token, whatever the merges say
  bool byte_fallback = false;  ///< a character without a token becomes its <0xNN> tokens
  bool fuse_unknown = false;  ///< neighbouring unknown characters become one token
  int32_t unknown_id = -1;  ///< -1: what is unknown is left out
  bool lacks_unknown = false;  ///< the file names an unknown token that is none
  std::string continuing_prefix = {};  ///< before every character of a word but the first
  std::string word_suffix = {};  ///< behind the last character of a word
};

class CharactersModel : public Model {
 public:
  /// tokens: by id, holes are empty; index: of them. Both are borrowed while create runs.
  static Result<std::unique_ptr<CharactersModel>> create(std::vector<std::string_view> tokens,
                                                         std::span<const Bpe::MergeTexts> merges,
                                                         CharactersOptions options);

  /// Fails CORRUPT at an unknown character if the file names an unknown token that is none.
  Result<void> encode_word(std::string_view word, Barred barred, Scratch& scratch) const override;

 private:
  CharactersModel(std::vector<std::string_view> tokens, CharactersOptions options);
  Result<void> index_tokens();
  Result<void> read_merges(std::span<const Bpe::MergeTexts> merges);
  Result<void> add_characters(std::string_view word, Barred barred, Scratch& scratch) const;

  std::vector<std::string_view> tokens_;
  CharactersOptions options_;
  tokenizer::TokenIndex index_;
  std::array<int32_t, 256> byte_ids_;  // the token <0xNN> of each byte, or -1
  PairIndex pairs_;
  std::vector<int32_t> joined_;  // by rank
};

}  // namespace plumbline::tokenizers::hf
