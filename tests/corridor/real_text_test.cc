// The whole corridor on the real models, from a shipped config to text: "The capital of France is"
// continued greedily by the reference backend with f32 activations. The oracle is transformers
// (golden/models/*/greedy.jsonl).
#include "core/config/load.h"
#include "core/pipeline/pipeline.h"
#include "tests/support/build_host.h"
#include "tests/support/golden_cases.h"
#include "tests/support/pulled_model.h"

namespace plumbline::test {
namespace {

struct Shipped {
  const char* config;
  const char* model;
};

class RealText : public testing::TestWithParam<Shipped> {};

TEST_P(RealText, GreedyTextMatchesTransformers) {
  const std::string path = pulled_model(GetParam().model);
  ASSERT_NE(path, "") << GetParam().model << " is missing: plumb model pull " << GetParam().model;
  const auto resolved = config::load_config(
      {.file = std::string(PLUMB_SOURCE_DIR "/configs/pipelines/") + GetParam().config + ".yaml",
       .overrides = {"context.length=512", "sampling.profile=diff-greedy"},
       .preset_folders = {PLUMB_SOURCE_DIR "/configs/presets"}});
  ASSERT_TRUE(resolved) << resolved.error().message;
  auto opened = pipeline::Pipeline::open(resolved->config, host(), path);
  ASSERT_TRUE(opened) << opened.error().message;
  pipeline::Pipeline& pipeline = **opened;

  const auto greedy = read_jsonl(golden_path("models/") + GetParam().model + "/greedy.jsonl");
  ASSERT_FALSE(greedy.empty());
  const nlohmann::json& golden = greedy.front();
  std::vector<int32_t> ids = golden.at("ids");
  // transformers was told to go on behind an end token; a pipeline stops there.
  if (golden.at("eos_at").is_number()) ids.resize(golden["eos_at"].get<size_t>() + 1);

  const auto prompt = pipeline.encode_prompt({.bytes = "The capital of France is"});
  ASSERT_TRUE(prompt) << prompt.error().message;
  EXPECT_EQ(prompt->ids, golden.at("prompt_ids").get<std::vector<int32_t>>());

  auto decoder = pipeline.decoder();
  auto sampler = pipeline.sampler();
  auto tokenizer = pipeline.tokenizer();
  ASSERT_TRUE(decoder) << decoder.error().message;
  ASSERT_TRUE(sampler) << sampler.error().message;
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  std::string streamed;
  pipeline::GenerationRequest request;
  request.prompt_ids = prompt->ids;
  request.max_tokens = static_cast<uint32_t>(ids.size());
  request.on_text = [&](std::string_view text) { streamed += text; };
  const auto generation = pipeline::generate(**decoder, *sampler, **tokenizer, request);
  ASSERT_TRUE(generation) << generation.error().message;
  EXPECT_EQ(generation->ids, ids);
  EXPECT_EQ(streamed, generation->text);
  const std::string text = golden.at("text");
  EXPECT_EQ(generation->text, text.substr(0, generation->text.size()));
  EXPECT_GT(generation->text.size(), 20u);
}

INSTANTIATE_TEST_SUITE_P(Shipped, RealText,
                         testing::Values(Shipped{"smollm2-reference-f32", "smollm2-135m"},
                                         Shipped{"gemma3-reference-f32", "gemma3-270m"},
                                         Shipped{"qwen2.5-coder-reference-f32",
                                                 "qwen2.5-coder-0.5b"}),
                         [](const auto& one) { return std::to_string(one.index); });

}  // namespace
}  // namespace plumbline::test
