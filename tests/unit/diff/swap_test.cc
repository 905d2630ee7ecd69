// Oracle: the keys of a pipeline config: core/doc/config.md.
#include "core/diff/swap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plumbline::diff {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> swapped(const std::vector<std::string>& swaps,
                                 const config::PipelineConfig& config = {}) {
  const auto overrides = swap_overrides(swaps, config);
  EXPECT_TRUE(overrides) << overrides.error().message;
  return overrides ? *overrides : std::vector<std::string>{};
}

TEST(Swap, PartsAreKeys) {
  EXPECT_THAT(
      swapped({"kernels=cpu.avx2:avx2_vnni"}),
      ElementsAre("kernels.backend=cpu.avx2", "kernels.variant=avx2_vnni", "kernels.options={}"));
  EXPECT_THAT(
      swapped({"activations=f32", "threads=2", "chunk=3"}),
      ElementsAre("kernels.activations=f32", "kernels.threads=2", "context.prefill_chunk=3"));
  EXPECT_THAT(swapped({"tokenizer=slm", "template=raw", "loader=gguf", "draw=cdf"}),
              ElementsAre("tokenizer.plugin=slm", "template.plugin=raw", "model.loader=gguf",
                          "sampling.draw=cdf"));
  EXPECT_THAT(swapped({"model=a b.gguf"}), ElementsAre("model.source={path: 'a b.gguf'}"));
  EXPECT_THAT(swapped({"kernels.kv=f16", "context.length=64"}),
              ElementsAre("kernels.kv=f16", "context.length=64"));
}

TEST(Swap, OpsAreOverrides) {
  EXPECT_THAT(swapped({"kernels.rope@3-5=reference", "kernels.attn_q@2=scalar"}),
              ElementsAre("kernels.overrides=[{op: 'rope', layers: 3-5, backend: 'reference'}, "
                          "{op: 'attn_q', layers: 2-2, backend: 'scalar'}]"));
}

TEST(Swap, OverridesOfTheConfigStay) {
  config::PipelineConfig config;
  config.kernels.overrides.push_back({"add", {}, "plumb.fault", R"({"fault":"x"})"});
  EXPECT_THAT(swapped({"kernels.rope=reference"}, config),
              ElementsAre("kernels.overrides=[{op: 'rope', backend: 'reference'}, {op: 'add', "
                          "backend: 'plumb.fault', options: {\"fault\":\"x\"}}]"));
}

TEST(Swap, WhatIsNoPartIsRefused) {
  for (const char* swap : {"", "=", "kernels", "kernels=", "engine=x", "kernels.rope@=x",
                           "kernels.rope@a-b=x", "kernels.@3=x"}) {
    const auto overrides = swap_overrides({swap}, {});
    ASSERT_FALSE(overrides) << swap;
    EXPECT_EQ(overrides.error().code, PLUMB_INVALID_ARGUMENT);
    EXPECT_THAT(overrides.error().message, HasSubstr("expected PART=VALUE"));
  }
}

}  // namespace
}  // namespace plumbline::diff
