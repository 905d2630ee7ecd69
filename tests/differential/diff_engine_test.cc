// The diff engine on the tiny models: what was exchanged is what it names, and nothing else.
// Oracle: the exchange itself, made in the config; equal bits inside the class canonical-1
// (core/doc/numerics.md); plumb.fault for a known fault.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/diff/engine.h"
#include "core/diff/memory.h"
#include "core/diff/op_comparison.h"
#include "core/model/forward.h"
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
  const std::string path = model.empty() ? opened->config.config.model.source.path
                           : model.starts_with('/')
                               ? model
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
             1,
             {}});
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
  EXPECT_TRUE(explains_place(prompt));
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
  EXPECT_EQ(prompt.picks.at(0).first_stage, "top_k {\"k\":2} / none");
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

// A case by hand: what only the texts around a raw prompt would show was not compared.
TEST(DiffEngine, OtherTemplatesAreNoMatchWithoutMessages) {
  const Report raw = compare({}, {"template.undefined=hf"}, on_text());
  EXPECT_EQ(raw.verdict, Verdict::kUnexplained);
  EXPECT_THAT(raw.notes, testing::Contains(HasSubstr("chat templates differ")));
  EXPECT_FALSE(raw.prompts.at(0).exact.at(0).is_compared);
  EXPECT_EQ(raw.prompts.at(0).exact.at(0).why_not, "a raw text was given");
}

TEST(DiffEngine, WithoutTokensThePromptsLogitsAreCompared) {
  for (const Mode mode : {Mode::kForced, Mode::kChained}) {
    DiffRequest request = on_text();
    request.mode = mode;
    request.n_steps = 0;
    const Report report = compare({}, {"kernels.activations=f32"}, request);
    EXPECT_EQ(report.verdict, Verdict::kUnexplained) << mode_name(mode);
    const PromptReport& prompt = report.prompts.at(0);
    ASSERT_EQ(prompt.logits.size(), 1u);
    EXPECT_GT(prompt.logits[0].n_bits_differ, 0u);
    for (const ExactDoor& door : prompt.exact)
      EXPECT_EQ(door.is_compared, door.door == Door::kTokens) << door_name(door.door);
  }
}

// Whatever noise is allowed, stages that differ on the same logits are no tie.
TEST(DiffEngine, ChainedStagesThatDifferAreNoTieFlip) {
  NoiseTable noise;
  noise.add({{"canonical-1", "q8", "*", "*"}, {"canonical-1", "f32", "*", "*"}, {}, 1e6, 1e6, {}});
  DiffRequest request = on_text();
  request.mode = Mode::kChained;
  request.n_steps = 16;
  request.noise = &noise;
  const Report report = compare(
      {"sampling.stages=[temperature: {t: 0.5}, gumbel]"},
      {"sampling.stages=[temperature: {t: 8.0}, gumbel]", "kernels.activations=f32"}, request);
  EXPECT_EQ(report.verdict, Verdict::kWrong);
  ASSERT_TRUE(report.prompts.at(0).place);
  EXPECT_EQ(report.prompts.at(0).place->door, Door::kPick);
}

TEST(DiffEngine, AScriptThatEndsEarlyIsADifference) {
  const std::string five = "sampling.stages=[scripted: {ids: [5, 6, 7, 8, 9]}]";
  const std::string three = "sampling.stages=[scripted: {ids: [5, 6, 7]}]";
  for (const Mode mode : {Mode::kForced, Mode::kChained}) {
    DiffRequest request = on_text();
    request.mode = mode;
    request.n_steps = 8;
    for (const bool a_is_longer : {true, false}) {
      const Report report =
          compare({a_is_longer ? five : three}, {a_is_longer ? three : five}, request);
      EXPECT_EQ(report.verdict, Verdict::kWrong) << mode_name(mode);
      const PromptReport& prompt = report.prompts.at(0);
      ASSERT_TRUE(prompt.place);
      EXPECT_EQ(prompt.place->door, Door::kPick);
      EXPECT_EQ(prompt.place->step, 3u);
      ASSERT_FALSE(prompt.picks.empty());
      EXPECT_THAT(a_is_longer ? prompt.picks.back().end_b : prompt.picks.back().end_a,
                  HasSubstr("ended"));
    }
    EXPECT_EQ(compare({three}, {three}, request).verdict, Verdict::kMatch);
  }
}

// The same model, but another id ends a text.
TEST(DiffEngine, IdsThatEndATextAreComparedThoughNoneWasGenerated) {
  std::ifstream file(PLUMB_SOURCE_DIR "/golden/models/tiny-world/model.gguf", std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const std::string key = "tokenizer.ggml.eos_token_id";
  const size_t at = bytes.find(key);
  ASSERT_NE(at, bytes.npos);
  bytes[at + key.size() + 4] = 99;  // behind the type: the value's lowest byte
  const std::string path = testing::TempDir() + "other_end.gguf";
  std::ofstream(path, std::ios::binary) << bytes;
  const auto a = open({}), b = open({}, path);
  ASSERT_TRUE(a != nullptr && b != nullptr);
  const auto report = compare(*a->side, *b->side, on_text());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->verdict, Verdict::kWrong);
  ASSERT_TRUE(report->prompts.at(0).place);
  EXPECT_EQ(report->prompts.at(0).place->door, Door::kBytes);
  EXPECT_EQ(report->prompts.at(0).place->seen_b, "id 99 ends the text");
}

// B runs on what was recorded of A.
void compare_with(const trace::Recording& of_a, Opened& b, std::span<const int32_t> ids,
                  OpComparison& comparison) {
  ASSERT_TRUE(b.side->restart());
  model::Forward forward(*b.side->decoder(), ids, model::Forward::Rows::kLast);
  while (true) {
    const auto goes_on = forward.next();
    ASSERT_TRUE(goes_on) << goes_on.error().message;
    if (!*goes_on) return;
    const model::OpSite& site = forward.site();
    if (!site.has_output()) continue;
    const std::string& name = site.info().name;
    const trace::Rows* const rows = of_a.find(name);
    if (rows == nullptr) {
      comparison.add_without_rows(name);
      continue;
    }
    const RowsOfA left{rows->first_position, rows->width, rows->values, rows->kv_positions};
    ASSERT_TRUE(comparison.compare(left, site, nullptr));
  }
}

TEST(DiffEngine, RowsThatAForeignEngineLeavesOutAreCounted) {
  const auto a = open({}), b = open({"kernels.activations=f32"});
  ASSERT_TRUE(a != nullptr && b != nullptr);
  const std::vector<int32_t> ids{1, 7, 30, 2, 9};
  trace::Recording all;
  ASSERT_TRUE(a->side->restart());
  ASSERT_TRUE(a->side->forward(ids, {.recording = &all}));
  // Only the last two rows of each op; nothing of one.
  trace::Recording some;
  uint64_t n_left_out = 0;
  const std::string without = "0.attn_q";
  for (const std::string& op : all.ops()) {
    const trace::Rows& rows = *all.find(op);
    if (rows.n_rows() < 2 || op == without) continue;
    const uint32_t first = rows.first_position + rows.n_rows() - 2;
    n_left_out += rows.n_rows() - 2;
    ASSERT_TRUE(some.put(op, first, rows.width, all.rows(op, first, 2)));
  }
  OpComparison comparison(*a->side, *b->side, false, b->pipeline->threads(), nullptr);
  compare_with(some, *b, ids, comparison);
  const std::vector<OpErrors> ops = comparison.finish();
  EXPECT_EQ(comparison.n_rows_not_compared(), n_left_out);
  EXPECT_TRUE(comparison.ops_without_rows().contains(without));
  const auto product = std::ranges::find(ops, "1.ffn_down", &OpErrors::op);
  ASSERT_NE(product, ops.end());
  EXPECT_EQ(product->first_position, 3u);
  EXPECT_EQ(product->n_rows, 2u);
  EXPECT_GT(product->n_bits_differ, 0u);
}

// plumb.fault: the newest row of a KV cache is also written over row 3, which the second generated
// token finds damaged.
TEST(DiffEngine, ARowOfAKvCacheThatIsDamagedLaterIsFoundWhereItIsDamaged) {
  DiffRequest request;
  request.prompts = {{.ids = {1, 7, 30}}};
  const Report report = compare({},
                                {"kernels.overrides=[{op: attend, layers: 1-1, backend: "
                                 "plumb.fault, options: {inner: auto, fault: kv_row_overwritten, "
                                 "amount: 3}}]"},
                                request);
  EXPECT_EQ(report.verdict, Verdict::kWrong);
  const PromptReport& prompt = report.prompts.at(0);
  ASSERT_TRUE(prompt.place);
  EXPECT_EQ(prompt.place->op, "1.kv_append");
  EXPECT_EQ(prompt.place->at, 3u);
  EXPECT_EQ(prompt.place->step, 2u);
  EXPECT_THAT(ops_that_differ(prompt), ElementsAre("1.kv_append"));
}

// A case by hand: the same keys and values, but A holds the last row for another position. It is
// found at kv_append, and B's cache gets A's positions.
TEST(DiffEngine, RowsOfAKvCacheForOtherPositionsAreFoundWhereTheyAreAppended) {
  const auto a = open({}), b = open({});
  ASSERT_TRUE(a != nullptr && b != nullptr);
  const std::vector<int32_t> ids{1, 7, 30, 2};
  trace::Recording of_a;
  ASSERT_TRUE(a->side->restart());
  ASSERT_TRUE(a->side->forward(ids, {.recording = &of_a}));
  const std::string op = "1.kv_append";
  const trace::Rows held = *of_a.find(op);
  ASSERT_EQ(held.kv_positions, (std::vector<int32_t>{0, 1, 2, 3}));
  const std::vector<int32_t> moved{0, 1, 2, 5};
  ASSERT_TRUE(of_a.put(op, 0, held.width, held.values, moved));
  OpComparison comparison(*a->side, *b->side, false, b->pipeline->threads(), nullptr);
  compare_with(of_a, *b, ids, comparison);
  for (const OpErrors& errors : comparison.finish()) {
    // A query sees keys up to its own position: at 3, none that is held for 5.
    const bool differs = errors.op == op || errors.op == "1.attend";
    EXPECT_EQ(errors.n_bits_differ > 0, differs) << errors.op;
    if (errors.op != op) continue;
    EXPECT_EQ(errors.n_bits_differ, 1u);
    EXPECT_EQ(errors.verdict, Verdict::kWrong);
    ASSERT_TRUE(errors.example);
    EXPECT_EQ(errors.example->position, 3u);
    EXPECT_EQ(errors.example->held_at_a, 5);
    EXPECT_EQ(errors.example->held_at_b, 3);
  }
  std::vector<float> rows;
  std::vector<int32_t> positions;
  model::Forward next(*b->side->decoder(), std::span(ids).first(1), model::Forward::Rows::kLast);
  while (*next.next() && next.site().info().name != op) continue;
  ASSERT_TRUE(next.site().read_kv(0, 4, rows, positions));
  EXPECT_EQ(positions, moved);
}

// A case by hand: in A two values of a row are no finite numbers, and an earlier one differs by
// much. The first of the two makes the row's error, whatever stands around it.
TEST(DiffEngine, AValueThatIsNoFiniteNumberIsShownBeforeAnyThatIs) {
  const auto a = open({}), b = open({});
  ASSERT_TRUE(a != nullptr && b != nullptr);
  const std::vector<int32_t> ids{1, 7, 30, 2};
  const std::string op = "1.ffn_down";
  trace::Recording of_a;
  ASSERT_TRUE(a->side->restart());
  ASSERT_TRUE(a->side->forward(ids, {.recording = &of_a}));
  trace::Rows rows = *of_a.find(op);
  float* const last_row = rows.values.data() + rows.values.size() - rows.width;
  last_row[2] = 1e6f;
  last_row[5] = std::numeric_limits<float>::infinity();
  last_row[9] = std::numeric_limits<float>::quiet_NaN();
  OpComparison comparison(*a->side, *b->side, false, b->pipeline->threads(), nullptr);
  ASSERT_TRUE(b->side->restart());
  model::Forward forward(*b->side->decoder(), ids, model::Forward::Rows::kLast);
  while (*forward.next() && forward.site().info().name != op) continue;
  const RowsOfA left{rows.first_position, rows.width, rows.values, rows.kv_positions};
  ASSERT_TRUE(comparison.compare(left, forward.site(), nullptr));
  const std::vector<OpErrors> ops = comparison.finish();
  ASSERT_EQ(ops.size(), 1u);
  ASSERT_TRUE(ops[0].example);
  EXPECT_EQ(ops[0].example->channel, 5u);
  EXPECT_EQ(ops[0].example->a, std::numeric_limits<float>::infinity());
}

// Where only the order differs: 0.8 of a flatter distribution takes more ids.
TEST(DiffEngine, StagesInAnotherOrderAreAnotherChain) {
  const Report report =
      compare({"sampling.stages=[top_p: {p: 0.8}, temperature: {t: 4.0}, gumbel]"},
              {"sampling.stages=[temperature: {t: 4.0}, top_p: {p: 0.8}, gumbel]"}, on_text());
  EXPECT_EQ(report.verdict, Verdict::kWrong);
  const PromptReport& prompt = report.prompts.at(0);
  ASSERT_TRUE(prompt.place);
  EXPECT_EQ(prompt.place->door, Door::kPick);
  EXPECT_LT(prompt.picks.at(0).n_kept_a, prompt.picks.at(0).n_kept_b);
}

// Oracle: the exchange. The logits differ, both sides draw alike, and every difference is allowed.
TEST(DiffEngine, ChainedPicksThatPartWithinNoiseAreATieFlip) {
  NoiseTable noise;
  noise.add({{"canonical-1", "q8", "*", "*"}, {"canonical-1", "f32", "*", "*"}, {}, 1e6, 1e6, {}});
  const std::string draw = "sampling.stages=[temperature: {t: 4.0}, cdf]";
  DiffRequest request = on_text();
  request.mode = Mode::kChained;
  request.n_steps = 64;
  bool has_parted = false;
  for (request.seed = 1; request.seed <= 16 && !has_parted; ++request.seed) {
    request.noise = &noise;
    const Report report = compare({draw}, {draw, "kernels.activations=f32"}, request);
    const PromptReport& prompt = report.prompts.at(0);
    has_parted = prompt.picks.size() == 1;
    if (!has_parted) continue;
    EXPECT_EQ(report.verdict, Verdict::kTieFlip);
    ASSERT_FALSE(prompt.logits.empty());
    // Behind the step at which they part, logits of other ids are not compared.
    EXPECT_EQ(prompt.logits.back().step, prompt.picks[0].step);
    EXPECT_EQ(prompt.logits.back().verdict, Verdict::kTieFlip);
    ASSERT_TRUE(prompt.place);
    EXPECT_EQ(prompt.place->door, Door::kPick);
    EXPECT_EQ(prompt.place->step, prompt.picks[0].step);
    EXPECT_NE(prompt.place->seen_a, prompt.place->seen_b);
    for (const ExactDoor& door : prompt.exact) {
      if (!door.place) continue;
      EXPECT_EQ(door.verdict, Verdict::kTieFlip) << door_name(door.door);
    }
    request.noise = nullptr;
    EXPECT_EQ(compare({draw}, {draw, "kernels.activations=f32"}, request).verdict,
              Verdict::kUnexplained);
  }
  EXPECT_TRUE(has_parted);
}

// A's script is over after two ids, B's after four: what B does then is compared with nothing.
TEST(DiffEngine, ChainedLogitsOfASideThatHasEndedAreNotCompared) {
  DiffRequest request = on_text();
  request.mode = Mode::kChained;
  request.n_steps = 8;
  const Report report = compare({"sampling.stages=[scripted: {ids: [5, 6]}]"},
                                {"sampling.stages=[scripted: {ids: [5, 6, 7, 8]}]"}, request);
  const PromptReport& prompt = report.prompts.at(0);
  ASSERT_EQ(prompt.logits.size(), 3u);
  for (const LogitErrors& errors : prompt.logits) EXPECT_EQ(errors.n_bits_differ, 0u);
}

// Sides that run in step keep nothing; other pieces of the prompt, or a question why, need room.
TEST(DiffEngine, WhatHasToBeRecordedIsCountedBefore) {
  DiffRequest request = on_text();
  request.bytes_max = 1000;
  EXPECT_EQ(compare({}, {"kernels.backend=plumb.cpu.scalar"}, request).verdict, Verdict::kMatch);
  const Report drift = compare({}, {"kernels.activations=f32"}, request);
  EXPECT_THAT(drift.prompts.at(0).notes, ElementsAre(HasSubstr("more than the 1000")));
  EXPECT_FALSE(drift.prompts.at(0).cause);

  const auto a = open({}), b = open({"context.prefill_chunk=3"});
  ASSERT_TRUE(a != nullptr && b != nullptr);
  const auto refused = compare(*a->side, *b->side, request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PLUMB_INVALID_ARGUMENT);
  EXPECT_THAT(refused.error().message, HasSubstr("give a shorter prompt"));
}

// Oracle: the recording itself.
TEST(DiffEngine, BytesOfARecordingAreThoseThatItTakes) {
  for (const char* model : {"tiny-llama", "tiny-gemma3"}) {
    const auto a = open({}, model);
    ASSERT_NE(a, nullptr);
    const std::vector<int32_t> ids{1, 7, 30, 2, 9};
    for (const bool all_rows : {false, true}) {
      trace::Recording recording;
      ASSERT_TRUE(a->side->restart());
      ASSERT_TRUE(a->side->forward(ids, {.recording = &recording, .all_rows = all_rows}));
      EXPECT_EQ(recording.bytes(),
                recording_bytes(*a->side->decoder(), ids.size(), all_rows ? ids.size() : 1));
    }
    EXPECT_EQ(recording_bytes(*a->side->decoder(), uint64_t{1} << 62, 1), UINT64_MAX);
  }
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
