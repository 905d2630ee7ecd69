// split_test: which part of an introduced error is whose. Oracle: sides that differ in one thing
// only, and weights that were quantised by another rule than their format's.
#include <gtest/gtest.h>

#include "core/diff/diagnose.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/signatures/small_pair.h"

namespace plumbline::diff {
namespace {

using namespace plumbline::diff::test;
using Split = OpErrors::Split;

class Splits : public testing::Test {
 protected:
  /// Splits of the products of layer 1.
  std::vector<Split> of(const std::string& model_a, const SideOptions& a,
                        const std::string& model_b, const SideOptions& b) {
    std::string why;
    const auto side_a = Side::create(model_a, a, &why);
    const auto side_b = Side::create(model_b, b, &why);
    EXPECT_TRUE(side_a && side_b) << why;
    std::vector<Split> splits;
    if (!side_a || !side_b) return splits;
    const PairSide pair_b = side_b->pair_side();
    visit_ops(
        side_a->pair_side(), &pair_b, made_ids(13, side_a->n_vocab()), {4, 9},
        [](const model::OpInfo& op) { return op.kind == PLUMB_OP_MATMUL && op.layer == 1; },
        [&](const OpEvidence& evidence) {
          if (const auto split = split_introduced(evidence)) splits.push_back(*split);
          EXPECT_FALSE(diagnose(evidence)) << evidence.info.name;
        });
    return splits;
  }

  plumbline::test::TemporaryFolder folder_;
};

constexpr double kArithmetic = 4e-6;  // f32 sums of some hundred terms, and some cancellation

TEST_F(Splits, OtherWeightsAreTheWeights) {
  for (const plumb_format format : {PLUMB_Q8_0, PLUMB_Q4_0, PLUMB_Q5_0, PLUMB_Q4_1}) {
    const std::string other = quantised_model("tiny-llama", format, folder_.path("q.gguf"));
    for (const auto& splits : {of("tiny-llama", {}, other, {}), of(other, {}, "tiny-llama", {})}) {
      EXPECT_EQ(splits.size(), 7u);
      for (const Split& split : splits) {
        EXPECT_GT(split.weights, 1e-3);
        EXPECT_LT(split.weights, split.weights_bound);
        EXPECT_GT(split.weights, split.weights_bound / 4);
        EXPECT_EQ(split.activations, 0);
        EXPECT_LT(split.arithmetic, kArithmetic);
      }
    }
  }
}

TEST_F(Splits, OtherActivationsAreTheActivations) {
  const auto splits = of("tiny-world", {}, "tiny-world", {.activations = PLUMB_ACT_Q8});
  EXPECT_EQ(splits.size(), 7u);
  for (const Split& split : splits) {
    EXPECT_EQ(split.weights, 0);
    EXPECT_GT(split.activations, 1e-4);
    EXPECT_LT(split.activations, split.activations_bound);
    EXPECT_LT(split.arithmetic, kArithmetic);
  }
}

TEST_F(Splits, AWrongKernelIsTheArithmetic) {
  const auto splits =
      of("tiny-world", {}, "tiny-world",
         {.activations = PLUMB_ACT_Q8, .fault = "noise", .amount = "0.01", .op = "matmul"});
  EXPECT_EQ(splits.size(), 7u);
  for (const Split& split : splits) {
    EXPECT_LT(split.activations, split.activations_bound);
    EXPECT_GT(split.arithmetic, 1e-3);
  }
}

TEST_F(Splits, WrongWeightsAreBeyondTheBound) {
  // Formats of 4 bits, announced as weights of 8.
  const std::string coarse = quantised_model("tiny-llama", PLUMB_Q4_0, folder_.path("coarse.gguf"));
  const std::string fine = quantised_model(coarse, PLUMB_Q8_0, folder_.path("fine.gguf"));
  const auto splits = of("tiny-llama", {}, fine, {});
  EXPECT_EQ(splits.size(), 7u);
  for (const Split& split : splits) EXPECT_GT(split.weights, split.weights_bound);
}

TEST_F(Splits, EqualFormatsHaveNone) {
  EXPECT_TRUE(of("tiny-world", {.backend = "plumb.reference"}, "tiny-world", {}).empty());
}

}  // namespace
}  // namespace plumbline::diff
