// op_evaluator_test: the f64 ops against the reference backend, which another hand wrote, on every
// op of the small models.
#include "core/diff/op_evaluator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/diff/signatures/suspect.h"
#include "tests/unit/signatures/small_pair.h"

namespace plumbline::diff {
namespace {

using namespace plumbline::diff::test;

class OnModel : public testing::TestWithParam<const char*> {};

// The reference rounds once, to f32: half a unit, and of a sum in another order nothing that f32
// shows. Angles and what comes of them have the roundings of the tables.
TEST_P(OnModel, AgreesWithTheReference) {
  for (const plumb_format activations : {PLUMB_F32, PLUMB_ACT_Q8}) {
    std::string why;
    const auto side =
        Side::create(GetParam(), {.backend = "plumb.reference", .activations = activations}, &why);
    ASSERT_TRUE(side) << why;
    size_t n = 0;
    const auto wants = [](const model::OpInfo& op) {
      return op.kind != PLUMB_OP_QUANTIZE && op.layer < 2;
    };
    visit_ops(side->pair_side(), nullptr, made_ids(23, side->n_vocab()), {9, 14}, wants,
              [&](const OpEvidence& evidence) {
                ++n;
                const auto suspect = Suspect::of(evidence, Suspect::Side::kA);
                ASSERT_TRUE(suspect) << evidence.info.name;
                const double bound = evidence.info.kind == PLUMB_OP_ROPE ? 23 * 0x1p-23 : 0x1p-23;
                EXPECT_LE(worst_row_error(suspect->plain(evidence.inputs), suspect->seen()), bound)
                    << evidence.info.name;
              });
    EXPECT_GT(n, 20u);
  }
}

INSTANTIATE_TEST_SUITE_P(Small, OnModel,
                         testing::Values("tiny-llama", "tiny-llama-tied", "tiny-llama-rope-linear",
                                         "tiny-llama-rope-llama3", "tiny-llama-rope-yarn",
                                         "tiny-qwen2", "tiny-qwen3", "tiny-gemma3", "tiny-formats"),
                         [](const auto& model) {
                           std::string name = model.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(RowError, IsRelativeToTheRow) {
  Matrix wanted(2, 2), seen(2, 2);
  wanted.values = {3, 4, 0, 10};
  seen.values = {3, 4, 0, 9};
  EXPECT_DOUBLE_EQ(worst_row_error(seen, wanted), 0.1);
  seen.values = {3, 4, 1, std::nan("")};
  EXPECT_TRUE(std::isinf(worst_row_error(seen, wanted)));
  seen.values = wanted.values = {1, INFINITY, 1, -INFINITY};
  EXPECT_EQ(worst_row_error(seen, wanted), 0);
}

}  // namespace
}  // namespace plumbline::diff
