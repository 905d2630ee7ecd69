// The diff engine on the tiny models: what was exchanged is what it names, and nothing else.
// Oracle: the exchange itself, made in the config; equal bits inside the class canonical-1
// (core/doc/numerics.md); plumb.fault for a known fault.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/diff/engine.h"
#include "tests/support/build_host.h"

namespace plumbline::diff {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kConfig = PLUMB_SOURCE_DIR "/configs/pipelines/tiny-world.yaml";

struct Opened {
  config::ResolvedConfig config;
  std::unique_ptr<pipeline::Pipeline> pipeline;
  std::unique_ptr<Side> side;
};

std::unique_ptr<Opened> open(const std::vector<std::string>& overrides,
                             const std::string& model = "") {
  auto opened = std::make_unique<Opened>();
  auto config = config::load_config({.file = kConfig,
                                     .overrides = overrides,
                                     .preset_folders = {PLUMB_SOURCE_DIR "/configs/presets"}});
  EXPECT_TRUE(config) << (config ? "" : config.error().message);
  if (!config) return nullptr;
  opened->config = *std::move(config);
  const std::string path = model.empty()
                               ? opened->config.config.model.source.path
                               : PLUMB_SOURCE_DIR "/golden/models/" + model + "/model.gguf";
  auto pipeline = pipeline::Pipeline::open(opened->config.config, test::host(), path);
  EXPECT_TRUE(pipeline) << (pipeline ? "" : pipeline.error().message);
  if (!pipeline) return nullptr;
  opened->pipeline = *std::move(pipeline);
  auto side = make_side({.name = "tiny"}, opened->config, *opened->pipeline);
  EXPECT_TRUE(side) << (side ? "" : side.error().message);
  if (!side) return nullptr;
  opened->side = *std::move(side);
  return opened;
}

DiffRequest on_text(const std::string& text = "Once upon a time there was a captain") {
  DiffRequest request;
  request.prompts = {{.text = text}};
  return request;
}

Report compare(const std::vector<std::string>& a, const std::vector<std::string>& b,
               const DiffRequest& request, const std::string& model = "") {
  const auto side_a = open(a, model), side_b = open(b, model);
  if (side_a == nullptr || side_b == nullptr) return {};
  auto report = compare(*side_a->side, *side_b->side, request);
  EXPECT_TRUE(report) << (report ? "" : report.error().message);
  return report ? *report : Report{};
}

std::vector<std::string> ops_that_differ(const PromptReport& prompt) {
  std::vector<std::string> ops;
  for (const OpErrors& op : prompt.ops) {
    if (op.n_bits_differ > 0) ops.push_back(op.op);
  }
  return ops;
}

const OpErrors* find(const PromptReport& prompt, const std::string& name) {
  for (const OpErrors& op : prompt.ops) {
    if (op.op == name) return &op;
  }
  return nullptr;
}

TEST(DiffEngine, CleanPairsMatchBitForBit) {
  const std::vector<std::string> plain{"kernels.backend=plumb.cpu.scalar"};
  for (const char* swap :
       {"kernels.threads=1", "context.prefill_chunk=3", "kernels.backend=auto"}) {
    const Report report = compare(plain, {plain[0], swap}, on_text());
    EXPECT_EQ(report.verdict, Verdict::kMatch) << swap;
    EXPECT_FALSE(report.is_empty);
    ASSERT_EQ(report.prompts.size(), 1u);
    EXPECT_GT(report.prompts[0].ops.size(), 50u);
    EXPECT_FALSE(report.prompts[0].place);
  }
}

TEST(DiffEngine, TheOpThatWasExchangedIsTheOneThatIsNamed) {
  for (const char* op : {"ffn_norm", "attn_k_rope", "attend", "ffn_down", "attn_residual"}) {
    const std::string override =
        std::string("kernels.overrides=[{op: ") + op + ", layers: 1-1, backend: reference}]";
    const Report report = compare({}, {override}, on_text());
    ASSERT_EQ(report.prompts.size(), 1u);
    const PromptReport& prompt = report.prompts[0];
    for (const std::string& differing : ops_that_differ(prompt)) {
      // A KV cache lies with its attention, whose rows are copied: they are equal.
      EXPECT_EQ(differing, std::string("1.") + op);
    }
    const OpErrors* const found = find(prompt, std::string("1.") + op);
    ASSERT_NE(found, nullptr);
    if (found->n_bits_differ == 0) continue;  // an addition rounds alike in both
    // No level was given: that is said, and nothing is called a match.
    EXPECT_EQ(found->verdict, Verdict::kUnexplained);
    EXPECT_FALSE(found->budget);
    EXPECT_THAT(report.notes, ElementsAre(HasSubstr("no noise level")));
    ASSERT_TRUE(prompt.place);
    EXPECT_EQ(prompt.place->op, std::string("1.") + op);
    EXPECT_EQ(found->inherited, 0.0);
    EXPECT_EQ(found->total, found->introduced);
  }
}

TEST(DiffEngine, WithALevelTheSamePairDrifts) {
  NoiseTable noise;
  noise.add({{"canonical-1", "*", "*", "*"},
             {"reference-f64/1", "*", "*", "*"},
             {{"rms_norm", 1e-6}},
             1,
             "a test",
             1,
             {"tiny"}});
  DiffRequest request = on_text();
  request.noise = &noise;
  const Report report =
      compare({}, {"kernels.overrides=[{op: ffn_norm, layers: 1-1, backend: reference}]"}, request);
  EXPECT_EQ(report.verdict, Verdict::kDrift);
}

TEST(DiffEngine, OtherActivationsAreAnErrorOfTheMatrixProductsAlone) {
  const Report report = compare({}, {"kernels.activations=f32"}, on_text());
  ASSERT_EQ(report.prompts.size(), 1u);
  const PromptReport& prompt = report.prompts[0];
  EXPECT_GT(prompt.n_ops_only_a, 0u);  // those that quantise
  EXPECT_EQ(prompt.n_ops_only_b, 0u);
  bool inherits = false;
  for (const OpErrors& op : prompt.ops) {
    EXPECT_EQ(op.n_bits_differ > 0, op.kind == "matmul") << op.op;
    // The two errors add up to the total, as vectors: their sizes bound it.
    EXPECT_LE(*op.total, op.introduced + *op.inherited + 1e-12) << op.op;
    inherits |= *op.inherited > 0;
  }
  EXPECT_TRUE(inherits);
}

TEST(DiffEngine, EveryArchitectureAgreesWithTheOracle) {
  // A f32 sum of n terms rounds each by at most 2^-24 of a partial sum; these models' sums have at
  // most 256 terms.
  const double bound = 256 / 16777216.0;
  for (const char* model :
       {"tiny-llama", "tiny-llama-rope-yarn", "tiny-qwen2", "tiny-qwen3", "tiny-gemma3"}) {
    DiffRequest request;
    request.prompts = {{.ids = {1, 7, 30, 2, 9, 11, 4, 25}}};
    const Report report =
        compare({"kernels.activations=f32"},
                {"kernels.activations=f32", "kernels.backend=reference"}, request, model);
    ASSERT_EQ(report.prompts.size(), 1u) << model;
    for (const OpErrors& op : report.prompts[0].ops) {
      EXPECT_LE(op.introduced_worst, bound) << model << " " << op.op;
    }
    EXPECT_EQ(report.prompts[0].n_ops_only_a + report.prompts[0].n_ops_only_b, 0u);
  }
}

TEST(DiffEngine, AFaultIsFoundInItsLayerAndNamed) {
  const Report report = compare({},
                                {"kernels.overrides=[{op: attn_q_rope, layers: 1-1, backend: "
                                 "plumb.fault, options: {inner: auto, fault: rope_pairing}}]"},
                                on_text());
  EXPECT_EQ(report.verdict, Verdict::kWrong);
  ASSERT_EQ(report.prompts.size(), 1u);
  const PromptReport& prompt = report.prompts[0];
  EXPECT_THAT(ops_that_differ(prompt), ElementsAre("1.attn_q_rope"));
  ASSERT_TRUE(prompt.cause);
  EXPECT_EQ(prompt.cause->signature, "rope_pairing");
  ASSERT_TRUE(prompt.place);
  EXPECT_EQ(prompt.place->op, "1.attn_q_rope");
  EXPECT_EQ(prompt.place->layer, 1);
}

TEST(DiffEngine, SamplerStagesAreJudgedOnTheSameLogits) {
  const Report report =
      compare({"sampling.stages=[top_k: {k: 2}, temperature: {t: 2.0}, gumbel]"},
              {"sampling.stages=[temperature: {t: 2.0}, top_k: {k: 5}, gumbel]"}, on_text());
  EXPECT_EQ(report.verdict, Verdict::kWrong);
  const PromptReport& prompt = report.prompts.at(0);
  EXPECT_THAT(ops_that_differ(prompt), IsEmpty());
  ASSERT_TRUE(prompt.place);
  EXPECT_EQ(prompt.place->door, Door::kPick);
  EXPECT_EQ(prompt.picks.at(0).first_stage, "0.top_k/temperature");
  EXPECT_EQ(prompt.picks.at(0).n_kept_a, 2u);
  EXPECT_EQ(prompt.picks.at(0).n_kept_b, 5u);
  EXPECT_EQ(prompt.picks.at(0).n_kept_both, 2u);
  EXPECT_GT(prompt.picks.at(0).flip_probability, 0);
}

TEST(DiffEngine, ChainedRunsOfOneClassMatch) {
  DiffRequest request = on_text();
  request.mode = Mode::kChained;
  request.n_steps = 12;
  const Report report = compare({}, {"kernels.backend=plumb.cpu.scalar"}, request);
  EXPECT_EQ(report.verdict, Verdict::kMatch);
  EXPECT_EQ(report.prompts.at(0).text_a, report.prompts.at(0).text_b);
  EXPECT_THAT(report.prompts.at(0).text_a, Not(IsEmpty()));
}

TEST(DiffEngine, NoPromptsAreNoMatch) {
  const Report report = compare({}, {"kernels.threads=1"}, {});
  EXPECT_TRUE(report.is_empty);
  EXPECT_NE(report.verdict, Verdict::kMatch);
}

TEST(DiffEngine, IdsOutsideTheVocabularyAreRefused) {
  const auto a = open({}), b = open({});
  ASSERT_TRUE(a != nullptr && b != nullptr);
  DiffRequest request;
  request.prompts = {{.ids = {1, 99999}}};
  const auto report = compare(*a->side, *b->side, request);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, PLUMB_INVALID_ARGUMENT);
}

TEST(DiffEngine, WithOtherVocabulariesOnlyTextIsCompared) {
  const auto a = open({}), b = open({}, "tiny-qwen2");
  ASSERT_TRUE(a != nullptr && b != nullptr);
  const auto report = compare(*a->side, *b->side, on_text());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_NE(report->verdict, Verdict::kMatch);
  EXPECT_THAT(report->notes, testing::Contains(HasSubstr("vocabularies differ")));
  EXPECT_TRUE(report->prompts.at(0).ops.empty());
  EXPECT_TRUE(report->prompts.at(0).bits_per_byte_a);
  DiffRequest ids;
  ids.prompts = {{.ids = {1}}};
  EXPECT_FALSE(compare(*a->side, *b->side, ids));
}

}  // namespace
}  // namespace plumbline::diff
