// bpe_tokenizer.h: byte-level BPE, tokenizer.ggml.model = "gpt2".
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pair_index.h"
#include "plumb/sdk/tokenizer/encoder.h"
#include "pre_tokenizer.h"

namespace plumbline::tokenizers::hf {

class BpeTokenizer {
 public:
  static Result<void> recognise(const tokenizer::MetadataReader& metadata);
  static Result<std::unique_ptr<BpeTokenizer>> create(const tokenizer::MetadataReader& metadata);

  const tokenizer::Vocabulary& vocabulary() const { return vocabulary_; }

  /// Ill-formed UTF-8 is read as U+FFFD and encoded as that character's bytes; the spans are those
  /// of the bytes that were there. A byte that the vocabulary has no token for is left out, as the
  /// tokenizers library does.
  void encode(const plumb_encode_request& request, tokenizer::Scratch& scratch,
              tokenizer::IdWriter& out) const;

  std::string_view piece(int32_t id, bool is_first) const;

 private:
  BpeTokenizer(tokenizer::Vocabulary vocabulary, const PreTokenizer& pre_tokenizer);
  Result<void> index_tokens();
  Result<void> read_merges(std::span<const plumb_str> merges);
  void read_pieces();
  void encode_text(const tokenizer::MappedView& part, tokenizer::Scratch& scratch,
                   tokenizer::IdWriter& out) const;
  void encode_word(std::string_view word, tokenizer::Scratch& scratch) const;
  int32_t whole_word(std::string_view word) const;

  tokenizer::Vocabulary vocabulary_;
  const PreTokenizer& pre_tokenizer_;
  std::vector<std::string_view> texts_;  // as in the file: in the byte alphabet
  tokenizer::TokenIndex index_;
  std::array<int32_t, 256> byte_ids_;  // the token of a byte alone, or -1
  PairIndex pairs_;
  tokenizer::LiteralMatcher literals_;
  std::string piece_bytes_;  // all pieces, end to end
  std::vector<uint32_t> piece_ends_;
};

}  // namespace plumbline::tokenizers::hf
