// Tiny random models of every architecture against transformers' logits (golden/models/tiny-*).
#include <cmath>
#include <filesystem>

#include "tests/differential/model_harness.h"

namespace plumbline::test {
namespace {

// The oracle is transformers in f32. Its own error is that of f32 sums, which the reference backend (f64) does not
// share; the bound of the whole project for full logits is 5e-4, and tiny models stay far below it.
constexpr float kMaxAbsDifference = 1e-4f;

std::vector<std::string> tiny_models() {
  std::vector<std::string> models;
  for (const auto& entry : std::filesystem::directory_iterator(PLUMB_SOURCE_DIR "/golden/models")) {
    const std::string name = entry.path().filename();
    if (name.starts_with("tiny-")) models.push_back(name);
  }
  std::sort(models.begin(), models.end());
  return models;
}

class TinyModels : public testing::TestWithParam<std::string> {
 protected:
  std::string folder() const { return golden_folder(GetParam()); }
  std::unique_ptr<Runner> runner(const RunnerOptions& options) const {
    return Runner::create(folder() + "/model.gguf", options);
  }
  std::vector<GoldenCase> cases() const { return read_cases(folder() + "/cases.jsonl"); }
  NpyArray logits(const GoldenCase& one) const { return read_npy(folder() + "/logits-" + one.name + ".npy"); }
};

TEST_P(TinyModels, LogitsOfEveryPositionMatchTransformers) {
  const auto reference = runner({});
  ASSERT_NE(reference, nullptr);
  for (const GoldenCase& one : cases()) {
    const NpyArray golden = logits(one);
    const std::vector<float> ours = reference->all_logits(one.ids);
    ASSERT_EQ(ours.size(), golden.values.size()) << one.name;
    float worst = 0;
    for (size_t i = 0; i < ours.size(); ++i) worst = std::max(worst, std::abs(ours[i] - golden.values[i]));
    EXPECT_LE(worst, kMaxAbsDifference) << one.name;
  }
}

TEST_P(TinyModels, GreedyIdsMatchTransformers) {
  const auto reference = runner({});
  ASSERT_NE(reference, nullptr);
  for (const GoldenCase& one : read_cases(folder() + "/greedy.jsonl")) {
    EXPECT_EQ(greedy(*reference, one.prompt_ids, one.ids.size()), one.ids) << one.name;
  }
}

TEST_P(TinyModels, TokenByTokenAndInChunksEqualsOnePass) {
  const auto whole = runner({});
  const auto chunks = runner({.n_threads = 2, .chunk_rows = 7});
  ASSERT_TRUE(whole != nullptr && chunks != nullptr);
  for (const GoldenCase& one : cases()) {
    const std::vector<float> expected = whole->last_logits(one.ids);
    EXPECT_EQ(chunks->last_logits(one.ids), expected) << one.name;
    ASSERT_TRUE(chunks->decoder().truncate(0));
    std::vector<float> last;
    for (const int32_t& id : one.ids) {
      const auto row = chunks->decoder().forward({&id, 1});
      ASSERT_TRUE(row) << row.error().message;
      last.assign(row->begin(), row->end());
    }
    EXPECT_EQ(last, expected) << one.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, TinyModels, testing::ValuesIn(tiny_models()),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace plumbline::test
