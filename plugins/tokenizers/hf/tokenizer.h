// tokenizer.h: the engine. A front end (tokenizer_json.h, sentencepiece.h, gguf.h) fills in the
// parts; what they do with a text is the same wherever they came from.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "added_tokens.h"
#include "decoder.h"
#include "model.h"
#include "normalizer.h"
#include "plumb/sdk/tokenizer/encoder.h"
#include "splitter.h"

namespace plumbline::tokenizers::hf {

/// Token texts that no metadata holds. A vector, not a string: its bytes do not move with it.
struct OwnedTokens {
  std::vector<char> bytes;
  std::vector<plumb_str> views;
};

/// What a file says.
struct Parts {
  OwnedTokens owned;
  tokenizer::Vocabulary vocabulary;
  std::vector<AddedToken> added;
  Normalizer normalizer;
  Splitter splitter;
  std::unique_ptr<const Model> model;
  Decoder decoder;
  std::vector<std::string>
      decoded_literals;  ///< by id, where a token decodes as another text; or empty
  std::vector<int32_t> prefix_ids;
  std::vector<int32_t> suffix_ids;
};

class Tokenizer {
 public:
  using Scratch = hf::Scratch;

  static Result<void> recognise(const tokenizer::MetadataReader& metadata);
  static Result<std::unique_ptr<Tokenizer>> create(const tokenizer::MetadataReader& metadata);
  static Result<std::unique_ptr<Tokenizer>> create(Parts parts);

  const tokenizer::Vocabulary& vocabulary() const { return parts_.vocabulary; }

  /// Ill-formed UTF-8 is read as U+FFFD; the spans are those of the bytes that were there.
  Result<void> encode(const plumb_encode_request& request, Scratch& scratch,
                      tokenizer::IdWriter& out) const;

  std::string_view piece(int32_t id, bool is_first) const;

 private:
  /// Where a token's bytes lie in piece_bytes_, inside a text and at its start.
  struct PieceRange {
    uint32_t begin;
    uint32_t end;
    uint32_t first_begin;
    uint32_t first_end;
  };

  explicit Tokenizer(Parts parts) : parts_(std::move(parts)) {}
  Result<void> sort_added();
  Result<void> read_pieces();
  Result<std::string> reading_of(int32_t id, bool is_first, Allowance& allowance);
  PieceRange keep(std::string_view inside, std::string_view first);

  Result<void> encode_part(const tokenizer::MappedView& part, const tokenizer::Bars& bars,
                           bool parses_special, Scratch& scratch, tokenizer::IdWriter& out) const;
  Result<void> encode_text(const tokenizer::MappedView& text, const tokenizer::Bars& bars,
                           Scratch& scratch, tokenizer::IdWriter& out) const;
  Result<void> encode_word(const tokenizer::MappedView& text, size_t begin, size_t end,
                           const tokenizer::Bars& bars, Scratch& scratch,
                           tokenizer::IdWriter& out) const;

  Parts parts_;
  AddedTokens in_source_;
  AddedTokens in_normalised_;
  std::string piece_bytes_;
  std::vector<PieceRange> pieces_;
};

}  // namespace plumbline::tokenizers::hf
