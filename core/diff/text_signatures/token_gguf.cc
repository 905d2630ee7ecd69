#include "core/diff/text_signatures/metadata.h"
#include "core/diff/text_signatures/tokens.h"

namespace plumbline::diff {
namespace {

constexpr const char* kPreKey = "tokenizer.ggml.pre";
constexpr const char* kMergesKey = "tokenizer.ggml.merges";
constexpr const char* kTypesKey = "tokenizer.ggml.token_type";
constexpr const char* kSpaceKey = "tokenizer.ggml.add_space_prefix";

// Source  the GGUF specification, tokenizer.ggml.token_type.
constexpr int32_t kNormalType = 1;
constexpr int32_t kByteType = 6;

// One of each way to cut words.
constexpr const char* kPreNames[] = {"gpt-2",  "default", "llama-bpe", "qwen2",      "qwen35",
                                     "gpt-4o", "tekken",  "smollm",    "deepseek-v3"};

}  // namespace

void add_gguf_hypotheses(const TokenEvidence& evidence, TokenHypotheses& out) {
  const plumb_metadata& metadata = *evidence.metadata_a;
  const std::string_view model = text_of(metadata, "tokenizer.ggml.model");
  if (model.empty()) return;
  const auto add = [&](const char* signature, std::string statement, const char* key,
                       MetadataValue value) {
    out.push_back({signature, std::move(statement), [&evidence, key, value = std::move(value)] {
                     return evidence.changed_a({.tokenizer = {{key, value}}});
                   }});
  };
  if (model == "gpt2") {
    const std::string own(text_of(metadata, kPreKey));
    for (const char* name : kPreNames) {
      if (own == name) continue;
      add("pre_tokenizer_wrong",
          "B cuts words as " + std::string(name) + ", A as " + (own.empty() ? "default" : own),
          kPreKey, std::string(name));
    }
    std::vector<std::string> merges = texts_of(metadata, kMergesKey);
    const size_t n_kept = texts_of(*evidence.metadata_b, kMergesKey).size();
    if (n_kept < merges.size()) {
      const std::string all = std::to_string(merges.size());
      merges.resize(n_kept);
      add("merges_cut", "B has the first " + std::to_string(n_kept) + " of A's " + all + " merges",
          kMergesKey, std::move(merges));
    }
    return;
  }
  add("prefix_space_lost", "B puts no space in front of a text, as A does", kSpaceKey, false);
  add("prefix_space_added", "B puts a space in front of a text, A does not", kSpaceKey, true);
  std::vector<int32_t> types = integers_of(metadata, kTypesKey);
  for (int32_t& type : types) type = type == kByteType ? kNormalType : type;
  add("byte_fallback_missing", "B lacks tokens of bytes for what the vocabulary lacks", kTypesKey,
      std::move(types));
}

}  // namespace plumbline::diff
