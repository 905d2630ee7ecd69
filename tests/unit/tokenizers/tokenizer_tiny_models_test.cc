// Oracle: tokenizers, SentencePiece and llama.cpp on the vocabularies of golden/models
// (golden/README.md).
#include "tests/unit/tokenizers/golden_vocabularies.h"

namespace plumbline::test {
namespace {

TEST(TokenizersOnTinyModels, Llama) {
  expect_golden("tiny-llama", golden_path("models/tiny-llama/model.gguf"), "plumb.tokenizers.hf");
}
TEST(TokenizersOnTinyModels, Qwen2) {
  expect_golden("tiny-qwen2", golden_path("models/tiny-qwen2/model.gguf"), "plumb.tokenizers.hf");
}
TEST(TokenizersOnTinyModels, Gemma3) {
  expect_golden("tiny-gemma3", golden_path("models/tiny-gemma3/model.gguf"),
                "plumb.tokenizers.spm");
}

}  // namespace
}  // namespace plumbline::test
