// json_steps.h: the sections of a tokenizer.json around its model, as the engine's parts.
#pragma once

#include <string>
#include <vector>

#include "decoder.h"
#include "json_node.h"
#include "normalizer.h"
#include "splitter.h"

namespace plumbline::tokenizers::hf {

/// "normalizer": appends its steps. Each of these fails CORRUPT for what the format does not have
/// and UNSUPPORTED for what is not known here.
Result<void> read_normalizer(const JsonNode& node, Normalizer& out);

/// "pre_tokenizer".
struct SplitterReading {
  Splitter splitter;
  /// True if the words are yet to be written in the byte alphabet, by a step or by a model that
  /// reads bytes.
  bool ends_in_bytes = false;
};
Result<void> read_splitter(const JsonNode& node, SplitterReading& out);

/// "decoder".
Result<void> read_decoder(const JsonNode& node, Decoder& out);

/// "post_processor": what stands before and behind one text.
struct Surroundings {
  std::vector<int32_t> prefix_ids;
  std::vector<int32_t> suffix_ids;
};
Result<void> read_post_processor(const JsonNode& node, uint64_t n_vocab, Surroundings& out);

/// {"String": "..."} or {"Regex": "..."}.
Result<Finder> read_finder(const JsonNode& pattern);

}  // namespace plumbline::tokenizers::hf
