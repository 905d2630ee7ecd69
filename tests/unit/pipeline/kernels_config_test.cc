// What the config says of kernels reaches the decoder. Oracle: the decoder's own figures, and the
// same model as the config says otherwise.
#include "tests/unit/pipeline/tiny_world.h"

namespace plumbline::test {
namespace {

std::vector<float> logits(pipeline::Pipeline& pipeline) {
  const auto decoder = pipeline.decoder();
  const auto prompt = pipeline.encode_prompt({.bytes = "Once upon a time"});
  EXPECT_TRUE(decoder) << (decoder ? "" : decoder.error().message);
  if (!decoder || !prompt) return {};
  const auto row = (*decoder)->forward(prompt->ids);
  EXPECT_TRUE(row) << (row ? "" : row.error().message);
  return row ? std::vector<float>(row->begin(), row->end()) : std::vector<float>();
}

TEST(KernelsConfig, KvInF16HalvesTheCacheAndRoundsIt) {
  const auto wide = tiny_world({});
  const auto narrow = tiny_world({"kernels.kv=f16"});
  ASSERT_TRUE(wide != nullptr && narrow != nullptr);
  const std::vector<float> exact = logits(*wide);
  const std::vector<float> rounded = logits(*narrow);
  EXPECT_EQ((*narrow->decoder())->kv_bytes_per_row() * 2, (*wide->decoder())->kv_bytes_per_row());
  EXPECT_NE(exact, rounded);
  // 11 bits of each key and value stay; logits of this model are below 32.
  ASSERT_EQ(exact.size(), rounded.size());
  for (size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(exact[i], rounded[i], 32 * 0x1p-8f);
}

TEST(KernelsConfig, ThreadsAreNeverMoreThanProcessors) {
  const auto pipeline = tiny_world({"kernels.threads=1000"});
  ASSERT_NE(pipeline, nullptr);
  EXPECT_EQ(pipeline->threads().n_threads(), useful_thread_count());
}

}  // namespace
}  // namespace plumbline::test
