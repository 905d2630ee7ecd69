// Several answers of a real model in steps that they share, a prompt that comes in pieces and one
// that fails among them. Oracle: each of them alone, to the bit.
#include "core/config/load.h"
#include "core/pipeline/pipeline.h"
#include "tests/support/build_host.h"
#include "tests/support/pulled_model.h"

namespace plumbline::test {
namespace {

struct Answer {
  std::vector<int32_t> ids;
  std::vector<float> logits;

  bool operator==(const Answer&) const = default;
};

TEST(TogetherText, OfARealModelHasTheBitsOfEachAlone) {
  const std::string path = pulled_model("smollm2-135m");
  ASSERT_NE(path, "") << "plumb model pull smollm2-135m";
  const auto resolved =
      config::load_config({.file = PLUMB_SOURCE_DIR "/configs/pipelines/smollm2.yaml",
                           .overrides = {"context.length=64", "context.prefill_chunk=8",
                                         "context.reserve_output=0", "generation.max_tokens=4"},
                           .preset_folders = {PLUMB_SOURCE_DIR "/configs/presets"}});
  ASSERT_TRUE(resolved) << resolved.error().message;
  auto opened = pipeline::Pipeline::open(resolved->config, host(), path);
  ASSERT_TRUE(opened) << opened.error().message;
  pipeline::Pipeline& pipeline = **opened;
  const auto decoder = pipeline.decoder();
  ASSERT_TRUE(decoder) << decoder.error().message;

  const std::vector<std::string> prompts = {
      "The capital of France is",
      "Once upon a time, in a village between two rivers, there lived a miller who"};
  std::vector<Answer> alone(prompts.size()), together(prompts.size());
  std::vector<pipeline::SamplerChain> samplers;
  for (size_t i = 0; i <= prompts.size(); ++i) samplers.push_back(*pipeline.sampler());
  const auto request_of = [&](size_t i, Answer& answer) {
    pipeline::GenerationRequest request =
        pipeline.generation_request(pipeline.encode_prompt({.bytes = prompts[i]})->ids);
    request.seed = 20261130 + i;
    request.on_logits = [&answer](std::span<const float> logits) {
      answer.logits.insert(answer.logits.end(), logits.begin(), logits.end());
    };
    return request;
  };
  for (size_t i = 0; i < prompts.size(); ++i) {
    ASSERT_TRUE((*decoder)->truncate(0));
    auto made = generate(**decoder, samplers[i], **pipeline.tokenizer(), request_of(i, alone[i]));
    ASSERT_TRUE(made) << made.error().message;
    alone[i].ids = made->ids;
    EXPECT_EQ(alone[i].ids.size(), 4u);
  }

  std::vector<pipeline::Participant> participants;
  for (size_t i = 0; i < prompts.size(); ++i)
    participants.push_back({&samplers[i], request_of(i, together[i])});
  pipeline::GenerationRequest outside = pipeline.generation_request({1, 2, INT32_MAX});
  participants.push_back({&samplers.back(), outside});
  const auto made = generate_together(**decoder, **pipeline.tokenizer(), std::move(participants));
  ASSERT_EQ(made.size(), prompts.size() + 1);
  for (size_t i = 0; i < prompts.size(); ++i) {
    ASSERT_TRUE(made[i]) << made[i].error().message;
    together[i].ids = made[i]->ids;
    EXPECT_TRUE(together[i] == alone[i]) << prompts[i];
  }
  EXPECT_FALSE(made.back());
}

}  // namespace
}  // namespace plumbline::test
