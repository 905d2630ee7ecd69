// tokenizer_json.h: the front end for Hugging Face's tokenizer.json.
#pragma once

#include "plumb/sdk/tokenizer/vocabulary.h"
#include "tokenizer.h"

namespace plumbline::tokenizers::hf {

/// Metadata keys: the text of a tokenizer.json, and of the tokenizer_config.json beside it, which
/// may be absent.
inline constexpr std::string_view kJsonKey = "tokenizer.huggingface.json";
inline constexpr std::string_view kConfigKey = "tokenizer.huggingface.config";

bool has_tokenizer_json(const tokenizer::MetadataReader& metadata);

/// Fails CORRUPT (what the file says is no tokenizer) or UNSUPPORTED (a part that is not known
/// here), with the path inside the file. Its sections "truncation" and "padding" are left to the
/// pipeline.
Result<Parts> read_tokenizer_json(const tokenizer::MetadataReader& metadata);

}  // namespace plumbline::tokenizers::hf
