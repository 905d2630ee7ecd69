// gguf.h: the front end for the byte-level vocabularies of GGUF files, tokenizer.ggml.model =
// "gpt2".
#pragma once

#include "plumb/sdk/tokenizer/vocabulary.h"
#include "tokenizer.h"

namespace plumbline::tokenizers::hf {

Result<void> recognise_gguf(const tokenizer::MetadataReader& metadata);
Result<Parts> read_gguf(const tokenizer::MetadataReader& metadata);

}  // namespace plumbline::tokenizers::hf
