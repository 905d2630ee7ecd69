// json_model.h: the section "model" of a tokenizer.json.
#pragma once

#include <memory>
#include <vector>

#include "json_node.h"
#include "model.h"
#include "plumb/ext/tokenizer.h"

namespace plumbline::tokenizers::hf {

/// Ids from here on are absurd.
constexpr uint64_t kMostTokens = uint64_t{1} << 24;

/// The model's tokens by id. Holes are empty. The texts lie in the parsed file.
struct ModelVocabulary {
  std::vector<std::string_view> tokens;
  size_t n_tokens = 0;  ///< without holes
};

Result<ModelVocabulary> read_model_vocabulary(const JsonNode& model);

/// tokens: as read_model_vocabulary gave them, at a place where they stay. reads_bytes: words come
/// as bytes that the file's last pre-tokenizer would have written in the byte alphabet; set to
/// false if this model cannot read them so.
struct ModelReading {
  std::unique_ptr<const Model> model;
  int32_t unknown_id = -1;
};
Result<ModelReading> read_model(const JsonNode& model, std::span<const std::string_view> tokens,
                                bool& reads_bytes);

}  // namespace plumbline::tokenizers::hf
