// split_test: which part of an introduced error is whose. Oracle: sides that differ in one thing
// only, and weights that were quantised by another rule than their format's.
#include <gtest/gtest.h>

#include "core/diff/diagnose.h"
#include "core/diff/split_introduced.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/signatures/small_pair.h"

namespace plumbline::diff {
namespace {

using namespace plumbline::diff::test;
using Split = OpErrors::Split;

constexpr double kArithmetic = 4e-6;  // f32 sums of some hundred terms, and some cancellation

/// Of the last row of a product.
std::optional<Split> split_of(const OpEvidence& evidence) {
  const auto side = [&](const OpSide& of) {
    CodedSide coded;
    coded.weight = &of.file->find(evidence.info.weight)->tensor;
    coded.is_quantised = of.record.as.matmul.in_format == PLUMB_ACT_Q8;
    coded.output = std::span(of.output).last(evidence.output_shape.width);
    coded.kernel_budget = kArithmetic / 2;
    return coded;
  };
  CodedRow row;
  row.a = side(evidence.a);
  row.b = side(evidence.b);
  row.x = std::span(evidence.inputs[0].values).last(evidence.inputs[0].shape.width);
  ThreadPool pool(2);
  return split_introduced(row, pool);
}

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
          if (const auto split = split_of(evidence)) splits.push_back(*split);
          EXPECT_FALSE(diagnose(evidence)) << evidence.info.name;
        });
    return splits;
  }

  plumbline::test::TemporaryFolder folder_;
};

TEST_F(Splits, OtherWeightsAreTheWeights) {
  for (const plumb_format format : {PLUMB_Q8_0, PLUMB_Q4_0, PLUMB_Q5_0, PLUMB_Q4_1}) {
    const std::string other = quantised_model("tiny-llama", format, folder_.path("q.gguf"));
    for (const auto& splits : {of("tiny-llama", {}, other, {}), of(other, {}, "tiny-llama", {})}) {
      EXPECT_EQ(splits.size(), 7u);
      for (const Split& split : splits) {
        EXPECT_GT(split.weights, 1e-3);
        EXPECT_LT(split.weights, split.weights_bound);
        EXPECT_GT(split.weights, split.weights_bound / 11);
        EXPECT_EQ(split.activations, 0);
        EXPECT_LT(split.arithmetic, kArithmetic);
        EXPECT_EQ(verdict_of(split), Verdict::kDrift);
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
    EXPECT_EQ(verdict_of(split), Verdict::kDrift);
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
    EXPECT_EQ(verdict_of(split), Verdict::kUnexplained);
  }
}

TEST_F(Splits, WrongWeightsAreBeyondTheBound) {
  // Formats of 4 bits, announced as weights of 8.
  const std::string coarse = quantised_model("tiny-llama", PLUMB_Q4_0, folder_.path("coarse.gguf"));
  const std::string fine = quantised_model(coarse, PLUMB_Q8_0, folder_.path("fine.gguf"));
  const auto splits = of("tiny-llama", {}, fine, {});
  EXPECT_EQ(splits.size(), 7u);
  for (const Split& split : splits) {
    EXPECT_GT(split.weights, split.weights_bound);
    EXPECT_EQ(verdict_of(split), Verdict::kWrong);
  }
}

TEST_F(Splits, EqualCodesLeaveArithmeticAlone) {
  const auto splits = of("tiny-world", {.backend = "plumb.reference"}, "tiny-world", {});
  EXPECT_EQ(splits.size(), 7u);
  for (const Split& split : splits) {
    EXPECT_EQ(split.activations, 0);
    EXPECT_EQ(split.weights_bound, 0);
    EXPECT_LT(split.arithmetic, kArithmetic);
  }
}

TEST_F(Splits, EmbeddingsDifferByTheirWeights) {
  const std::string other = quantised_model("tiny-llama", PLUMB_Q4_0, folder_.path("q.gguf"));
  std::string why;
  const auto a = Side::create("tiny-llama", {}, &why);
  const auto b = Side::create(other, {}, &why);
  ASSERT_TRUE(a && b) << why;
  CodedRow row;
  row.id = 7;
  std::vector<std::vector<float>> outputs;
  for (Side* const side : {a.get(), b.get()}) {
    CodedSide& coded = side == a.get() ? row.a : row.b;
    coded.weight = &side->pair_side().file->find("token_embd.weight")->tensor;
    std::vector<float>& output = outputs.emplace_back(coded.weight->dims[1]);
    rows_of(*coded.weight).read(row.id, output.data());
    coded.output = output;
  }
  ThreadPool pool(1);
  const auto split = split_introduced(row, pool);
  ASSERT_TRUE(split);
  EXPECT_GT(split->weights, 0.01);
  EXPECT_EQ(split->arithmetic, 0);
  EXPECT_EQ(verdict_of(*split), Verdict::kDrift);
}

TEST_F(Splits, WhatDoesNotFitHasNone) {
  ThreadPool pool(1);
  EXPECT_FALSE(split_introduced({}, pool));
}

}  // namespace
}  // namespace plumbline::diff
