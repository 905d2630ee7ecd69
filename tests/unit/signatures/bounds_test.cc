// bounds_test: what a diagnosis does not take for known, and how much it looks at. Oracle: how the
// evidence was made.
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <limits>

#include "core/diff/diagnose.h"
#include "core/diff/signatures/fit.h"
#include "core/diff/signatures/suspect.h"
#include "tests/unit/signatures/small_pair.h"

namespace plumbline::diff {
namespace {

using namespace plumbline::diff::test;

std::vector<float> rounded(const Matrix& matrix) {
  return {matrix.values.begin(), matrix.values.end()};
}

/// A norm of n rows, the second four times the first and so on, that no side can run again.
OpEvidence norm_of(OpEvidence evidence, uint32_t n_rows) {
  Rows& x = evidence.inputs[0];
  const size_t width = x.shape.width;
  x.values.resize(n_rows * width);
  for (size_t i = width; i < x.values.size(); ++i) x.values[i] = 4 * x.values[i - width];
  x.shape.n_rows = evidence.output_shape.n_rows = n_rows;
  for (OpSide* side : {&evidence.a, &evidence.b}) {
    side->record.n_rows = n_rows;
    side->output.resize(n_rows * width);
    side->run = nullptr;
  }
  const auto suspect = Suspect::of(evidence, Suspect::Side::kB);
  evidence.a.output = evidence.b.output = rounded(suspect->plain(evidence.inputs));
  return evidence;
}

TEST(FittedNumbers, NeedMoreRowsThanOne) {
  show_op("tiny-llama", "1.attn_norm", [](OpEvidence evidence) {
    OpEvidence shrunk = norm_of(evidence, 1);
    for (float& value : shrunk.b.output) value *= 0.9f;
    EXPECT_FALSE(diagnose(shrunk)) << diagnose(shrunk)->statement;

    OpEvidence epsilon = norm_of(evidence, 3);
    const auto suspect = Suspect::of(epsilon, Suspect::Side::kB);
    NormParameters how = suspect->norm();
    how.epsilon = 0.25;
    epsilon.b.output = rounded(suspect->normed(epsilon.inputs, how));
    const std::optional<Cause> cause = diagnose(epsilon);
    ASSERT_TRUE(cause);
    EXPECT_EQ(cause->signature, "norm_epsilon");
  });
}

// The second pair does not turn at all: the base has no end.
TEST(FittedNumbers, AreNoPositionsOfPairsThatStandStill) {
  show_op("tiny-llama", "1.attn_q_rope", [](OpEvidence evidence) {
    model::HyperParameters endless = *evidence.a.hyper_parameters;
    endless.rope.base = std::numeric_limits<double>::infinity();
    evidence.a.hyper_parameters = evidence.b.hyper_parameters = &endless;
    const auto suspect = Suspect::of(evidence, Suspect::Side::kB);
    ASSERT_TRUE(suspect);
    ASSERT_EQ(suspect->rope().frequencies[1], 0);
    // Pairs that stand still tell of no position, and the first one turns as it should.
    EXPECT_TRUE(offsets_of(*suspect).empty());
  });
}

OpEvidence long_attention(OpEvidence evidence, uint32_t n_queries, uint32_t n_keys) {
  const auto fill = [](Rows& rows, uint32_t n_rows) {
    rows.shape.n_rows = n_rows;
    rows.values.assign(rows.shape.size(), 0.5f);
  };
  fill(evidence.inputs[0], n_queries);
  fill(evidence.inputs[1], n_queries);
  fill(evidence.inputs[2], n_keys);
  for (uint32_t t = 0; t < n_queries; ++t)
    evidence.inputs[1].values[t] = std::bit_cast<float>(static_cast<int32_t>(t));
  evidence.output_shape.n_rows = n_queries;
  for (OpSide* side : {&evidence.a, &evidence.b}) {
    side->record.n_rows = n_queries;
    side->output.assign(evidence.output_shape.size(), 0.5f);
  }
  return evidence;
}

TEST(LongAttention, IsLookedAtInRowsThatDifferAndOthers) {
  show_op("tiny-llama", "1.attend", [](const OpEvidence& given) {
    OpEvidence evidence = long_attention(given, 4096, 4096);
    const size_t width = evidence.output_shape.width;
    evidence.b.output[1234 * width] = 3;
    const auto suspect = Suspect::of(evidence, Suspect::Side::kB);
    ASSERT_TRUE(suspect);
    const OpInputs inputs = suspect->narrowed(evidence.inputs);
    const Matrix plain = suspect->plain(inputs), seen = suspect->seen();
    ASSERT_EQ(plain.n_rows, seen.n_rows);
    EXPECT_EQ(inputs[2].shape.n_rows, 4096u);
    // Two products for each channel of each key that a row sees.
    EXPECT_LE(plain.n_rows * 4096 * width * 2, size_t{1} << 24);
    EXPECT_GE(plain.n_rows, 4u);
    size_t n_differ = 0;
    for (size_t i = 0; i < seen.values.size(); ++i) n_differ += seen.values[i] == 3 ? 1 : 0;
    EXPECT_EQ(n_differ, 1u);
    const std::vector<int32_t> positions = integers_of(inputs[1]);
    for (size_t t = 0; t < positions.size(); ++t)
      EXPECT_EQ(seen.row(t)[0] == 3, positions[t] == 1234) << positions[t];
  });
}

TEST(LongAttention, EndsWhenItIsTold) {
  show_op("tiny-llama", "1.attend", [](OpEvidence evidence) {
    const std::atomic<bool> cancel = true;
    evidence.cancel = &cancel;
    for (float& value : evidence.b.output) value *= 2;
    int n_runs = 0;
    for (OpSide* side : {&evidence.a, &evidence.b}) {
      side->run = [&n_runs](const OpInputs&) -> Result<std::vector<float>> {
        ++n_runs;
        return Error{PLUMB_CANCELLED, "cancelled"};
      };
    }
    EXPECT_FALSE(diagnose(evidence));
    EXPECT_EQ(n_runs, 0);
  });
}

TEST(QuantisedRows, OfNoNumbersHaveNoCodes) {
  for (const float bad : {std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
    Rows x{{0, 1, 64}, std::vector<float>(64, 1.0f)};
    x.values[40] = bad;
    const Matrix seen = matrix_of(quantise_rows(x));
    for (size_t i = 0; i < 32; ++i) EXPECT_FLOAT_EQ(static_cast<float>(seen.values[i]), 1.0f) << i;
    for (size_t i = 32; i < 64; ++i) EXPECT_TRUE(std::isnan(seen.values[i])) << i;
  }
}

}  // namespace
}  // namespace plumbline::diff
