// bpe.h: byte-level byte pair encoding: the words of a text to token ids.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "character_merges.h"
#include "pair_index.h"
#include "plumb/sdk/result.h"
#include "plumb/sdk/tokenizer/encoder.h"
#include "words/cursor.h"

namespace plumbline::tokenizers::hf {

using tokenizer::Barred;

class Bpe {
 public:
  /// Both in the byte alphabet. Borrowed while create runs.
  struct MergeTexts {
    std::string_view left;
    std::string_view right;
  };
  struct Source {
    std::span<const std::string_view> texts;  ///< of each id, in the byte alphabet
    std::span<const uint8_t> attributes;  ///< PLUMB_TOKEN_* of each id
    std::span<const MergeTexts> merges;  ///< the earliest first
    bool ignore_merges;  ///< a word that is a token is that token, whatever the merges say
    std::string_view texts_key, merges_key;  ///< what errors call them
  };
  /// CORRUPT for a text that two ids have and for merges of or into what is no token. No merge
  /// makes a control or unknown token.
  static Result<Bpe> create(const Source& source);

  /// The bytes of a token; the literal of one that is no word.
  std::string_view piece(int32_t id) const {
    return {piece_bytes_.data() + piece_ends_[id], piece_ends_[id + 1] - piece_ends_[id]};
  }

  /// A byte that the vocabulary has no token for is left out, as the tokenizers library does.
  void encode(Pattern pattern, const tokenizer::MappedView& text, tokenizer::WordMemory& memory,
              tokenizer::IdWriter& out) const;

  /// Leaves the symbols of one word of any length in the merger; barred tokens are not made.
  void merge_word(std::string_view word, Barred barred, tokenizer::Merger& merger) const;

 private:
  static constexpr size_t kShortWord =
      64;  // symbols: up to here, the best pair is looked for in all

  void read_pieces(const Source& source);
  Result<void> read_merges(const Source& source, const tokenizer::TokenIndex& index);
  void read_words(const Source& source, std::span<const std::string_view> pieces);
  void encode_word(std::string_view word, size_t readable, tokenizer::WordMemory& memory) const;
  void put_with_holes(const tokenizer::MappedView& word, tokenizer::Merger& merger,
                      tokenizer::IdWriter& out) const;
  size_t merge_short(int32_t* ids, size_t n) const;
  void merge_long(std::string_view word, Barred barred, tokenizer::Merger& merger) const;
  int32_t whole_word(std::string_view word) const;

  std::array<int32_t, 256> byte_ids_{};  // the token of a byte alone, or -1
  bool has_all_bytes_ = false;
  PairIndex pairs_;
  std::vector<int32_t> joined_;  // by rank
  CharacterMerges characters_;
  std::vector<char> piece_bytes_;  // all pieces, end to end; a string's could move with it
  std::vector<uint32_t> piece_ends_;  // one more than there are ids
  std::vector<std::string_view> words_;  // of each id that a word can be without merges; else empty
  std::unique_ptr<tokenizer::TokenIndex> word_index_;
};

}  // namespace plumbline::tokenizers::hf
