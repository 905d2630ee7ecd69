// What one op of B costs in A. Oracles: A's own ops change nothing, all of B's ops give B, and a
// single op is that of a pipeline whose config puts it there.
#include "core/diff/impact.h"

#include <gmock/gmock.h>

#include "tests/support/diff_sides.h"

namespace plumbline::diff {
namespace {

using test::MadeSide;

const std::vector<std::vector<int32_t>> kPrompts = {{1, 5, 9, 2, 7, 3, 11, 4, 8, 6},
                                                    {14, 3, 3, 40, 17, 21}};

ImpactReport measure(const MadeSide& a, const MadeSide& b, bool by_op) {
  ImpactRequest request;
  request.prompts = kPrompts;
  request.by_op = by_op;
  const auto report = measure_impact(*a.side, *b.side, request);
  EXPECT_TRUE(report) << report.error().message;
  return report ? *report : ImpactReport{};
}

const Impact* find(const ImpactReport& report, const std::string& name) {
  for (const Impact& one : report.impacts) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

TEST(Impact, AModelsOwnOpsChangeNothing) {
  const auto a = test::make_side("tiny-formats"), b = test::make_side("tiny-formats");
  const ImpactReport report = measure(*a, *b, false);
  EXPECT_EQ(report.kl_of_b, 0);
  EXPECT_FALSE(report.impacts.empty());
  for (const Impact& one : report.impacts) {
    EXPECT_TRUE(one.is_equal) << one.name;
    EXPECT_EQ(one.kl, 0) << one.name;
    EXPECT_EQ(one.same_top, 1) << one.name;
  }
  // A, B, and B on A's inputs, for each prompt.
  EXPECT_EQ(report.n_forwards, 3 * kPrompts.size());
}

// The whole of B's difference is one op, so that op in A is B.
TEST(Impact, OneOpInAIsThePipelineWithThatOp) {
  const auto a = test::make_side("tiny-llama");
  const auto b = test::make_side(
      "tiny-llama", {"kernels.overrides=[{op: ffn_act, layers: 1, backend: plumb.reference}]"});
  const ImpactReport report = measure(*a, *b, true);
  EXPECT_GT(report.kl_of_b, 0);
  EXPECT_EQ(report.impacts.front().name, "1.ffn_act");
  EXPECT_EQ(report.impacts.front().kl, report.kl_of_b);
  for (size_t at = 1; at < report.impacts.size(); ++at)
    EXPECT_TRUE(report.impacts[at].is_equal) << report.impacts[at].name;
}

// A tied embedding: the head reads what the embedding leaves.
TEST(Impact, OpsThatReadOneTensorGoTogether) {
  const auto a = test::make_side("tiny-llama-tied");
  const auto b = test::make_side(
      "tiny-llama-tied",
      {"kernels.overrides=[{op: embed, backend: plumb.reference}, {op: output, backend: "
       "plumb.reference}]"});
  const ImpactReport report = measure(*a, *b, false);
  EXPECT_GT(report.kl_of_b, 0);
  EXPECT_EQ(report.impacts.front().name, "token_embd.weight");
  EXPECT_THAT(report.impacts.front().ops, testing::ElementsAre("embed", "output"));
  EXPECT_EQ(report.impacts.front().kl, report.kl_of_b);
}

// A KV cache is an op's output too.
TEST(Impact, APreciseCacheInPlaceOfARoughOne) {
  const auto a = test::make_side("tiny-llama");
  const auto b = test::make_side("tiny-llama", {"kernels.kv=f16"});
  const ImpactReport report = measure(*a, *b, true);
  ASSERT_NE(find(report, "0.kv_append"), nullptr);
  EXPECT_GT(find(report, "0.kv_append")->kl, 0);
  EXPECT_TRUE(find(report, "0.attn_k_rope")->is_equal);
}

// All ops of B, one after the other, each on what those before it left, are B bit for bit.
TEST(Impact, AllOpsTogetherAreB) {
  const auto a = test::make_side("tiny-formats");
  const auto b = test::make_side("tiny-formats", {"kernels.activations=f32"});
  const auto logits_b = b->side->forward(kPrompts[0], {.all_rows = true});
  ASSERT_TRUE(logits_b);
  const std::vector<float> expected(logits_b->begin(), logits_b->end());
  std::vector<std::string> ops;
  for (const model::OpInfo* op : (*a->pipeline->decoder())->ops()) {
    if (op->kind != PLUMB_OP_QUANTIZE) ops.push_back(op->name);
  }
  const auto mixed = logits_with(*a->side, *b->side, ops, kPrompts[0]);
  ASSERT_TRUE(mixed) << mixed.error().message;
  ASSERT_EQ(mixed->size(), expected.size());
  EXPECT_EQ(std::memcmp(mixed->data(), expected.data(), 4 * expected.size()), 0);
}

TEST(Impact, RefusesIdsThatMeanOtherBytes) {
  const auto a = test::make_side("tiny-llama"), b = test::make_side("tiny-world");
  ASSERT_TRUE(a != nullptr && b != nullptr);
  ImpactRequest request;
  request.prompts = kPrompts;
  const auto report = measure_impact(*a->side, *b->side, request);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, PLUMB_INCOMPATIBLE);
  EXPECT_THAT(report.error().message, testing::HasSubstr("vocabularies differ"));
}

TEST(Impact, TensorsAreRankedWithFormatAndSize) {
  const auto a = test::make_side("tiny-formats", {"kernels.activations=f32"});
  const auto b = test::make_side("tiny-formats");
  const ImpactReport report = measure(*a, *b, false);
  EXPECT_EQ(report.n_prompts, 2u);
  EXPECT_EQ(report.n_rows, kPrompts[0].size() + kPrompts[1].size());
  for (size_t at = 1; at < report.impacts.size(); ++at)
    EXPECT_GE(report.impacts[at - 1].kl, report.impacts[at].kl);
  const Impact& first = report.impacts.front();
  EXPECT_GT(first.kl, 0);
  EXPECT_THAT(first.name, testing::EndsWith(".weight"));
  EXPECT_FALSE(first.format_b.empty());
  EXPECT_GT(first.bytes_b, 0u);
}

TEST(Impact, StopsWithWhatItHas) {
  const auto a = test::make_side("tiny-formats", {"kernels.activations=f32"});
  const auto b = test::make_side("tiny-formats");
  std::atomic<bool> cancel = false;
  ImpactRequest request;
  request.prompts = kPrompts;
  request.cancel = &cancel;
  for (const uint32_t n_before : {3u, 1000u}) {
    cancel = false;
    request.on_progress = [&](uint32_t done, uint32_t of) {
      cancel = done == (n_before == 3 ? 3 : of / 2 + 3);
    };
    const auto report = measure_impact(*a->side, *b->side, request);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_FALSE(report->is_complete);
    EXPECT_EQ(report->n_prompts, 1u);
    if (n_before == 3) {
      EXPECT_LT(report->impacts.size(), 10u);
    }
  }
}

}  // namespace
}  // namespace plumbline::diff
