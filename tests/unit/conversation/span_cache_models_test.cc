// The span cache on vocabularies of real models. Oracle: grown_prompts.h.
#include <cstdlib>

#include "core/pipeline/pipeline.h"
#include "tests/support/pulled_model.h"
#include "tests/unit/conversation/grown_prompts.h"

namespace plumbline::test {
namespace {

class SpanCacheRealModels : public testing::TestWithParam<const char*> {};

TEST_P(SpanCacheRealModels, PartsHaveTheIdsOfTheWholeUnderEveryPublicTemplate) {
  const std::string path = pulled_model(GetParam());
  if (path.empty()) GTEST_SKIP() << "no " << GetParam() << ": plumb model pull " << GetParam();
  config::PipelineConfig config;
  config.model.loader = config.tokenizer.plugin = config::kAuto;
  const auto opened = pipeline::Pipeline::open(config, host(), path);
  ASSERT_TRUE(opened) << opened.error().message;
  const auto tokenizer = (*opened)->tokenizer();
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  const bool is_long = std::getenv("PLUMB_LONG_TESTS") != nullptr;
  GrownTally tally;
  size_t first = 0;
  for (const std::string& source : public_templates()) {
    SCOPED_TRACE(source);
    grow(**tokenizer, source, strangers_texts(first++, is_long ? 10 : 200), tally);
  }
  EXPECT_GT(tally.n_prompts, 300u);
  RecordProperty("reused_bytes", std::to_string(tally.n_reused_bytes));
  RecordProperty("encoded_bytes", std::to_string(tally.n_encoded_bytes));
}

INSTANTIATE_TEST_SUITE_P(Models, SpanCacheRealModels,
                         testing::Values("smollm2-135m", "qwen2.5-coder-0.5b", "gemma3-270m",
                                         "tokenizer-qwen3", "tokenizer-llama3_1",
                                         "tokenizer-gemma3", "tokenizer-gpt4o", "tokenizer-gptoss",
                                         "tokenizer-llama2", "tokenizer-deepseek_v3"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           for (char& c : name) {
                             if (c == '-' || c == '.') c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace plumbline::test
