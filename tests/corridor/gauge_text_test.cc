// Greedy texts of a real model, with a constant added to every row of logits: rounded to 2^-12, so
// that the addition is exact. Oracle: softmax, which does not see the constant; and for the penalty
// by sign the published finding that at theta 1.3 a constant of 5 changes 58 to 96 % of the tokens
// of such texts (arXiv 2607.09791, four models).
#include <cmath>

#include "core/config/load.h"
#include "core/pipeline/pipeline.h"
#include "tests/support/build_host.h"
#include "tests/support/pulled_model.h"

namespace plumbline::test {
namespace {

constexpr size_t kTokens = 48;
const char* const kPrompts[] = {
    "The river had been rising since Tuesday. By the time the bell in the village rang,",
    "A recipe for bread. Ingredients: flour, water, salt, yeast.", "def read_lines(path):\n"};

class GaugeText : public testing::Test {
 protected:
  void SetUp() override {
    const std::string path = pulled_model("smollm2-135m");
    ASSERT_NE(path, "") << "smollm2-135m is missing: plumb model pull smollm2-135m";
    const auto resolved =
        config::load_config({.file = PLUMB_SOURCE_DIR "/configs/pipelines/smollm2.yaml",
                             .overrides = {"context.length=512"},
                             .preset_folders = {PLUMB_SOURCE_DIR "/configs/presets"}});
    ASSERT_TRUE(resolved) << resolved.error().message;
    auto opened = pipeline::Pipeline::open(resolved->config, host(), path);
    ASSERT_TRUE(opened) << opened.error().message;
    pipeline_ = *std::move(opened);
  }

  std::vector<int32_t> text(const char* prompt, const std::vector<config::StageConfig>& stages,
                            float shift) {
    auto sampler =
        pipeline::make_sampler({.profile = "", .stages = stages, .breakers = {}, .seed = 1}, host(),
                               (*pipeline_->decoder())->hyper_parameters().n_vocab);
    EXPECT_TRUE(sampler) << (sampler ? "" : sampler.error().message);
    const std::vector<int32_t> ids = pipeline_->encode_prompt({.bytes = prompt})->ids;
    model::Decoder& decoder = **pipeline_->decoder();
    EXPECT_TRUE(decoder.truncate(0));
    std::vector<int32_t> generated;
    auto logits = decoder.forward(ids);
    while (logits && generated.size() < kTokens) {
      std::vector<float> row(logits->begin(), logits->end());
      for (float& logit : row) logit = std::rint(logit * 4096) / 4096 + shift;
      const auto picked = sampler->pick(row, pipeline::sample_context(1, ids, generated, {}));
      EXPECT_TRUE(picked) << (picked ? "" : picked.error().message);
      generated.push_back(picked->id);
      logits = decoder.forward({&generated.back(), 1});
    }
    return generated;
  }

  /// The share of tokens that a constant of 5 either way changes.
  double changed(const std::vector<config::StageConfig>& stages) {
    double n = 0, n_changed = 0;
    for (const char* prompt : kPrompts) {
      const std::vector<int32_t> plain = text(prompt, stages, 0);
      for (const float shift : {5.0f, -5.0f}) {
        const std::vector<int32_t> shifted = text(prompt, stages, shift);
        for (size_t i = 0; i < kTokens; ++i) n_changed += plain[i] != shifted[i] ? 1 : 0;
        n += kTokens;
      }
    }
    return n_changed / n;
  }

  std::unique_ptr<pipeline::Pipeline> pipeline_;
};

config::StageConfig stage(const char* name, const char* parameters) {
  return {name, config::kAuto, parameters};
}

TEST_F(GaugeText, PenaltiesThatSubtractDoNotSeeTheConstant) {
  EXPECT_EQ(changed({stage("presence", R"({"strength": 1})"), stage("greedy", "{}")}), 0);
  EXPECT_EQ(changed({stage("repetition", R"({"theta": 1.3})"), stage("greedy", "{}")}), 0);
}

TEST_F(GaugeText, ThePenaltyBySignDoes) {
  const double share = changed(
      {stage("repetition", R"({"theta": 1.3, "rule": "ctrl_sign"})"), stage("greedy", "{}")});
  RecordProperty("changed", std::to_string(share));
  EXPECT_GT(share, 0.29) << "half of the least that was published";
}

}  // namespace
}  // namespace plumbline::test
