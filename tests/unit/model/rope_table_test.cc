// Inverse frequencies and attention factors of every kind of RoPE scaling. The oracle is
// transformers (golden/rope/inverse_frequencies.jsonl).
#include "core/model/rope_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

namespace plumbline::test {
namespace {

using model::Rope;
using nlohmann::json;

// transformers computes in f32: a dozen roundings of at most 2^-24 each, ours are rounded once.
constexpr double kRelativeBound = 0x1p-20;

Rope rope_of(const json& record) {
  const json& parameters = record.at("parameters");
  Rope rope;
  rope.n_rotated = record.at("n_rotated");
  rope.base = parameters.at("rope_theta");
  rope.factor = parameters.value("factor", 1.0);
  rope.original_context = parameters.value("original_max_position_embeddings", 0u);
  rope.low_freq_factor = parameters.value("low_freq_factor", rope.low_freq_factor);
  rope.high_freq_factor = parameters.value("high_freq_factor", rope.high_freq_factor);
  rope.beta_fast = parameters.value("beta_fast", rope.beta_fast);
  rope.beta_slow = parameters.value("beta_slow", rope.beta_slow);
  const std::string kind = parameters.at("rope_type");
  rope.scaling = kind == "linear"   ? Rope::Scaling::linear
                 : kind == "llama3" ? Rope::Scaling::llama3
                 : kind == "yarn"   ? Rope::Scaling::yarn
                                    : Rope::Scaling::none;
  return rope;
}

TEST(RopeTable, FrequenciesMatchTransformers) {
  std::ifstream file(PLUMB_SOURCE_DIR "/golden/rope/inverse_frequencies.jsonl");
  ASSERT_TRUE(file);
  int n_cases = 0;
  for (std::string line; std::getline(file, line); ++n_cases) {
    const json record = json::parse(line);
    const std::string name = record.at("name");
    const std::vector<double> golden = record.at("inverse_frequencies");
    const std::vector<float> ours = model::inverse_frequencies(rope_of(record), {});
    ASSERT_EQ(ours.size(), golden.size()) << name;
    for (size_t i = 0; i < golden.size(); ++i) {
      EXPECT_NEAR(ours[i], golden[i], kRelativeBound * golden[i]) << name << ", pair " << i;
    }
  }
  EXPECT_EQ(n_cases, 8);
}

TEST(RopeTable, FactorsDivideTheFrequencies) {
  Rope rope;
  rope.n_rotated = 4;
  rope.base = 100;
  rope.scaling = Rope::Scaling::factors;
  const std::vector<float> factors = {2, 5};
  const std::vector<float> ours = model::inverse_frequencies(rope, factors);
  EXPECT_EQ(ours, (std::vector<float>{0.5f, static_cast<float>(0.1 / 5)}));
}

TEST(RopeTable, RowsAreCosinesAndSinesOfPositionTimesFrequency) {
  const std::vector<float> frequencies = {1.0f, 0.37f, 1e-4f};
  constexpr uint32_t kFirst = 4000, kRows = 3;
  constexpr double kFactor = 1.25;
  std::vector<float> cosines(kRows * 3), sines(kRows * 3);
  model::fill_rope_rows(frequencies, kFactor, kFirst, kRows, cosines.data(), sines.data());
  for (uint32_t row = 0; row < kRows; ++row) {
    for (size_t i = 0; i < 3; ++i) {
      // The product rounds to f32, as in transformers; libm in f64 is far nearer than an f32's half
      // step.
      const float angle = static_cast<float>(kFirst + row) * frequencies[i];
      const double bound = kFactor * 0x1p-24;
      EXPECT_NEAR(cosines[row * 3 + i], kFactor * std::cos(double{angle}), bound);
      EXPECT_NEAR(sines[row * 3 + i], kFactor * std::sin(double{angle}), bound);
    }
  }
}

}  // namespace
}  // namespace plumbline::test
