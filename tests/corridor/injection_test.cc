// Strangers who forge roles, on the vocabularies of real models. Oracle: attacked_prompts.h.
#include <cstdlib>
#include <functional>

#include "core/pipeline/pipeline.h"
#include "tests/support/attacked_prompts.h"
#include "tests/support/pulled_model.h"

namespace plumbline::test {
namespace {

class InjectionRealModels : public testing::TestWithParam<const char*> {};

TEST_P(InjectionRealModels, NoAttackForgesARoleUnderAnyPublicTemplate) {
  const std::string path = pulled_model(GetParam());
  if (path.empty()) GTEST_SKIP() << "no " << GetParam() << ": plumb model pull " << GetParam();
  config::PipelineConfig config;
  config.model.loader = config.tokenizer.plugin = config::kAuto;
  const auto opened = pipeline::Pipeline::open(config, host(), path);
  ASSERT_TRUE(opened) << opened.error().message;
  const auto tokenizer = (*opened)->tokenizer();
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  // The ten vocabularies share the attacks, unless there is time.
  constexpr size_t kVocabularies = 10;
  if (std::getenv("PLUMB_LONG_TESTS") != nullptr) {
    attack(**tokenizer);
  } else {
    attack(**tokenizer, std::hash<std::string_view>()(GetParam()) % kVocabularies, kVocabularies);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, InjectionRealModels,
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
