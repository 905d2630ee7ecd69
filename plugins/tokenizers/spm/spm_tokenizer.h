// spm_tokenizer.h: SentencePiece BPE by scores, tokenizer.ggml.model = "llama".
#pragma once

#include <array>
#include <bitset>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plumb/sdk/tokenizer/encoder.h"

namespace plumbline::tokenizers::spm {

class SpmTokenizer {
 public:
  using Scratch = tokenizer::Scratch;

  static Result<void> recognise(const tokenizer::MetadataReader& metadata);
  static Result<std::unique_ptr<SpmTokenizer>> create(const tokenizer::MetadataReader& metadata);

  const tokenizer::Vocabulary& vocabulary() const { return vocabulary_; }

  /// The vocabulary writes a space as U+2581, so both read the same in a text. Ill-formed UTF-8 is
  /// read as U+FFFD. A character that is in no token becomes its byte tokens, or the unknown token
  /// where a byte has none.
  Result<void> encode(const plumb_encode_request& request, tokenizer::Scratch& scratch,
                      tokenizer::IdWriter& out) const;

  std::string_view piece(int32_t id, bool is_first) const;

 private:
  explicit SpmTokenizer(tokenizer::Vocabulary vocabulary);
  Result<void> index_tokens();
  Result<void> read_scores(std::span<const float> scores);
  Result<void> encode_text(const tokenizer::MappedView& part, const tokenizer::Bars& bars,
                           tokenizer::Scratch& scratch, tokenizer::IdWriter& out) const;
  size_t word_end(std::string_view text, size_t begin) const;
  void encode_word(std::string_view word, tokenizer::Barred barred,
                   tokenizer::Scratch& scratch) const;
  void put_character(std::string_view word, uint32_t begin, uint32_t end, tokenizer::Barred barred,
                     std::vector<tokenizer::Piece>& out) const;
  bool is_joined(char left, char right) const {
    return joined_[static_cast<size_t>(static_cast<uint8_t>(left)) << 8 |
                   static_cast<uint8_t>(right)];
  }

  tokenizer::Vocabulary vocabulary_;
  bool add_space_prefix_ = true;
  std::string piece_bytes_;  // all pieces, end to end, with spaces for U+2581
  std::vector<std::string_view> pieces_;  // by id, into piece_bytes_
  tokenizer::TokenIndex index_;
  std::vector<uint32_t> priorities_;  // the smaller, the earlier: scores turned round
  size_t longest_bytes_ = 0;
  std::array<int32_t, 256> byte_ids_;
  /// Byte pairs that stand at a border of two characters inside some token: words are cut
  /// everywhere else.
  std::bitset<65536> joined_;
  tokenizer::LiteralMatcher literals_;
};

}  // namespace plumbline::tokenizers::spm
