// The corridor's first two doors on seven public tokenizers: messages to bytes, bytes to ids. The
// oracle is the conformance suite golden/text_suite, made by tokenizers and transformers.
#include "core/config/load.h"
#include "core/pipeline/pipeline.h"
#include "tests/support/build_host.h"
#include "tests/support/golden_cases.h"
#include "tests/support/pulled_model.h"

namespace plumbline::test {
namespace {

constexpr int64_t kAnyTime = 1'700'000'000;  // no template of the suite asks for the clock

class TextSuite : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string model = std::string("tokenizer-") + GetParam();
    path_ = pulled_model(model);
    ASSERT_NE(path_, "") << model << " is missing: plumb model pull " << model;
  }

  std::unique_ptr<pipeline::Pipeline> open() const {
    const auto resolved =
        config::load_config({.file = PLUMB_SOURCE_DIR "/configs/pipelines/default.yaml",
                             .preset_folders = {PLUMB_SOURCE_DIR "/configs/presets"}});
    EXPECT_TRUE(resolved) << (resolved ? "" : resolved.error().message);
    if (!resolved) return nullptr;
    auto opened = pipeline::Pipeline::open(resolved->config, host(), path_);
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    return opened ? *std::move(opened) : nullptr;
  }

  std::string path_;
};

TEST_P(TextSuite, TextsBecomeTheIdsOfTheReference) {
  const auto pipeline = open();
  ASSERT_NE(pipeline, nullptr);
  const auto tokenizer = pipeline->tokenizer();
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  int n_texts = 0;
  for (const auto& line :
       read_jsonl(golden_path("text_suite/") + GetParam() + std::string(".jsonl"))) {
    if (!line.contains("text")) continue;
    SCOPED_TRACE(line.at("name").get<std::string>());
    const std::string text = line.at("text");
    const auto parsed = (*tokenizer)->encode(text, PLUMB_SPECIAL_PARSE);
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(parsed->ids, line.at("ids").get<std::vector<int32_t>>());
    const auto plain = (*tokenizer)->encode(text, PLUMB_SPECIAL_OFF);
    ASSERT_TRUE(plain) << plain.error().message;
    EXPECT_EQ(plain->ids, line.at("ids_special_off").get<std::vector<int32_t>>());
    ++n_texts;
  }
  EXPECT_GT(n_texts, 50);
}

TEST_P(TextSuite, ConversationsBecomeTheBytesOfTheReference) {
  const auto pipeline = open();
  ASSERT_NE(pipeline, nullptr);
  const auto tokenizer = pipeline->tokenizer();
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  const auto source = pipeline->template_text();
  ASSERT_TRUE(source) << source.error().message;
  int n_prompts = 0;
  for (const auto& line :
       read_jsonl(golden_path("text_suite/") + GetParam() + std::string(".jsonl"))) {
    if (!line.contains("prompt")) continue;
    SCOPED_TRACE(line.at("name").get<std::string>());
    const auto rendered = pipeline->render(line.at("messages"), {.now_unix_s = kAnyTime});
    ASSERT_TRUE(rendered) << rendered.error().message;
    EXPECT_EQ(rendered->bytes, line.at("prompt").get<std::string>());
    const auto parsed = (*tokenizer)->encode(rendered->bytes, PLUMB_SPECIAL_PARSE);
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(parsed->ids, line.at("prompt_ids").get<std::vector<int32_t>>());
    ++n_prompts;
  }
  EXPECT_EQ(n_prompts > 0, !source->empty());
}

INSTANTIATE_TEST_SUITE_P(Public, TextSuite,
                         testing::Values("qwen3", "llama3_1", "gemma3", "gpt4o", "gptoss", "llama2",
                                         "deepseek_v3"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace plumbline::test
