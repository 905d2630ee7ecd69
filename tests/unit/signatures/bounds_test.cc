// bounds_test: what a diagnosis does not take for known. Oracle: how the evidence was made.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/diff/diagnose.h"
#include "core/diff/signatures/fit.h"
#include "core/diff/signatures/suspect.h"
#include "tests/unit/signatures/small_pair.h"

namespace plumbline::diff {
namespace {

using namespace plumbline::diff::test;

/// Shows an op of a healthy pair.
void on(const std::string& op, const std::function<void(OpEvidence)>& visit) {
  std::string why;
  const auto side = Side::create("tiny-llama", {}, &why);
  ASSERT_TRUE(side) << why;
  int n = 0;
  visit_ops(
      side->pair_side(), nullptr, made_ids(13, side->n_vocab()), {4, 9},
      [&](const model::OpInfo& info) { return info.name == op; },
      [&](const OpEvidence& evidence) {
        ++n;
        visit(evidence);
      });
  EXPECT_EQ(n, 1) << op;
}

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
  on("1.attn_norm", [](OpEvidence evidence) {
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
  on("1.attn_q_rope", [](OpEvidence evidence) {
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
