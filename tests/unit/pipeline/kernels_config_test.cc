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

TEST(KernelsConfig, OverridesWithOtherOptionsAreInstancesOfTheirOwn) {
  const auto with = [](const std::string& overrides) {
    const auto pipeline = tiny_world({"kernels.overrides=" + overrides});
    if (pipeline == nullptr) return std::pair(size_t{0}, std::vector<float>());
    std::vector<float> row = logits(*pipeline);
    return std::pair(pipeline->backends().size(), std::move(row));
  };
  const std::string none = "{op: rope, layers: 0, backend: fault, options: {fault: none}}";
  const std::string sign =
      "{op: attn_q_rope, layers: 1, backend: fault, options: {fault: rope_sign}}";
  const std::string again = "{op: attend, backend: plumb.fault, options: {fault: none}}";
  const std::string main = "{op: ffn_act, backend: scalar, options: {}}";
  const auto [n_plain, plain] = with("[]");
  EXPECT_EQ(n_plain, 1u);
  EXPECT_EQ(with("[" + main + "]").first, 1u);
  const auto [n_harmless, harmless] = with("[" + none + "," + again + "]");
  EXPECT_EQ(n_harmless, 2u);
  EXPECT_EQ(harmless, plain);
  const auto [n_broken, broken] = with("[" + none + "," + sign + "," + again + "]");
  EXPECT_EQ(n_broken, 3u);
  EXPECT_NE(broken, plain);
}

TEST(KernelsConfig, OptionsOfAnOverrideAreItsBackends) {
  const auto refusal = [](const std::string& override) {
    const auto pipeline = tiny_world({"kernels.overrides=[" + override + "]"});
    if (pipeline == nullptr) return std::string();
    const auto decoder = pipeline->decoder();
    return decoder ? "accepted" : decoder.error().message;
  };
  EXPECT_EQ(refusal("{op: rope, backend: plumb.cpu.scalar, options: {fault: none}}"),
            "plumb.cpu.scalar: options {\"fault\":\"none\"}: this backend has none");
  EXPECT_EQ(refusal("{op: rope, backend: fault, options: {fault: rope_sgn}}"),
            "plumb.fault: options: no fault rope_sgn, expected one that backends/fault/README.md "
            "lists; did you mean \"rope_sign\"?");
  EXPECT_EQ(refusal("{op: rope, backend: fault, options: {fault: none, inner: fault}}"),
            "plumb.fault: plumb.fault would wrap plumb.fault; expected another plugin");
}

TEST(KernelsConfig, ThreadsAreNeverMoreThanProcessors) {
  const auto pipeline = tiny_world({"kernels.threads=1000"});
  ASSERT_NE(pipeline, nullptr);
  EXPECT_EQ(pipeline->threads().n_threads(), useful_thread_count());
}

}  // namespace
}  // namespace plumbline::test
