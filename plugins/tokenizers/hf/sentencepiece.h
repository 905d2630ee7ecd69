// sentencepiece.h: the front end for SentencePiece's .model files.
#pragma once

#include "plumb/sdk/tokenizer/vocabulary.h"
#include "tokenizer.h"

namespace plumbline::tokenizers::hf {

/// Metadata key: the bytes of a .model file.
inline constexpr std::string_view kSentencePieceKey = "tokenizer.sentencepiece.model";

bool has_sentencepiece(const tokenizer::MetadataReader& metadata);

/// Fails CORRUPT (SentencePiece would not load it) or UNSUPPORTED (the model types WORD and CHAR,
/// white space as a suffix, a denormalizer with rules).
Result<Parts> read_sentencepiece(const tokenizer::MetadataReader& metadata);

}  // namespace plumbline::tokenizers::hf
