// Causes at door 10 in model files. Oracle: the key that was changed.
#include "core/diff/text_signatures/metadata.h"
#include "tests/unit/text_signatures/text_pipelines.h"

namespace plumbline::test {
namespace {

using diff::MetadataValue;

constexpr const char* kModels[] = {"tiny-llama", "tiny-gemma3", "tiny-qwen2", "tiny-world"};

struct KeyMutant {
  const char* cause;
  const char* key;
  std::function<std::optional<MetadataValue>(const plumb_metadata&)> value;
};

bool is_model(const plumb_metadata& metadata, const char* name) {
  return diff::text_of(metadata, "tokenizer.ggml.model") == name;
}

const KeyMutant kMutants[] = {
    {"pre_tokenizer_wrong", "tokenizer.ggml.pre",
     [](const plumb_metadata& metadata) -> std::optional<MetadataValue> {
       const bool is_other = diff::text_of(metadata, "tokenizer.ggml.pre") != "gpt-2";
       if (!is_model(metadata, "gpt2") || !is_other) return std::nullopt;
       return std::string("gpt-2");
     }},
    {"merges_cut", "tokenizer.ggml.merges",
     [](const plumb_metadata& metadata) -> std::optional<MetadataValue> {
       std::vector<std::string> merges = diff::texts_of(metadata, "tokenizer.ggml.merges");
       if (!is_model(metadata, "gpt2") || merges.empty()) return std::nullopt;
       merges.resize(merges.size() / 2);
       return merges;
     }},
    {"byte_fallback_missing", "tokenizer.ggml.token_type",
     [](const plumb_metadata& metadata) -> std::optional<MetadataValue> {
       if (!is_model(metadata, "llama")) return std::nullopt;
       std::vector<int32_t> types = diff::integers_of(metadata, "tokenizer.ggml.token_type");
       for (int32_t& type : types) type = type == 6 ? 1 : type;
       return types;
     }},
    {"prefix_space_lost", "tokenizer.ggml.add_space_prefix",
     [](const plumb_metadata& metadata) -> std::optional<MetadataValue> {
       if (!is_model(metadata, "llama")) return std::nullopt;
       return false;
     }},
    {"prefix_space_added", "tokenizer.ggml.add_space_prefix",
     [](const plumb_metadata& metadata) -> std::optional<MetadataValue> {
       if (!is_model(metadata, "llama")) return std::nullopt;
       return true;
     }},
    {"bos_missing", "tokenizer.ggml.add_bos_token",
     [](const plumb_metadata&) -> std::optional<MetadataValue> { return false; }},
    {"bos_added", "tokenizer.ggml.add_bos_token",
     [](const plumb_metadata&) -> std::optional<MetadataValue> { return true; }},
};

TEST(TokenCauses, AreNamedInModelFiles) {
  Score score;
  for (const char* name : kModels) {
    TextPipeline a(golden_path(std::string("models/") + name + "/model.gguf"), "");
    const auto file = a->tokenizer_file();
    ASSERT_TRUE(file) << file.error().message;
    for (const KeyMutant& mutant : kMutants) {
      const auto value = mutant.value((*file)->metadata());
      if (!value) continue;
      const diff::ReplacedMetadata changed((*file)->metadata(), {{mutant.key, *value}});
      TextPipeline b(golden_path(std::string("models/") + name + "/model.gguf"), "");
      b->replace_tokenizer(changed.metadata());
      for (const char* text : {"In 1984, WE'LL see caf\u00e9s \U0001f98a", " a b"}) {
        auto evidence = diff::token_evidence(*a, *b, {.bytes = text});
        ASSERT_TRUE(evidence) << evidence.error().message;
        evidence->metadata_b = &changed.metadata();
        const auto ids_a = evidence->a(evidence->prompt);
        const auto ids_b = evidence->b(evidence->prompt);
        if (!ids_a || !ids_b || ids_a->ids == ids_b->ids) continue;
        score.count(std::string(name) + ", " + mutant.key, mutant.cause,
                    diagnose_tokens(*evidence));
        break;
      }
    }
  }
  EXPECT_EQ(score.n_wrong, 0) << score;
  EXPECT_GE(score.n_right, 6) << score;
}

}  // namespace
}  // namespace plumbline::test
