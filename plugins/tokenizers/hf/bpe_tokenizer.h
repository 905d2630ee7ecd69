// bpe_tokenizer.h: byte-level BPE, tokenizer.ggml.model = "gpt2".
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bpe.h"
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

  std::string_view piece(int32_t id, bool) const { return bpe_.piece(id); }

 private:
  BpeTokenizer(tokenizer::Vocabulary vocabulary, const PreTokenizer& pre_tokenizer, Bpe bpe)
      : vocabulary_(std::move(vocabulary)), pre_tokenizer_(pre_tokenizer), bpe_(std::move(bpe)) {}

  tokenizer::Vocabulary vocabulary_;
  const PreTokenizer& pre_tokenizer_;
  Bpe bpe_;
  tokenizer::LiteralMatcher literals_;
};

}  // namespace plumbline::tokenizers::hf
