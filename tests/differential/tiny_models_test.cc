// Tiny random models of every architecture against transformers' logits (golden/models/tiny-*).
#include <atomic>
#include <cmath>
#include <filesystem>

#include "plumb/sdk/blocks.h"
#include "tests/support/digest_book.h"
#include "tests/support/model_harness.h"

namespace plumbline::test {
namespace {

// The oracle is transformers in f32. Its own error is that of f32 sums, which the reference backend
// (f64) does not share; the bound of the whole project for full logits is 5e-4, and tiny models
// stay far below it.
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
  NpyArray logits(const GoldenCase& one) const {
    return read_npy(folder() + "/logits-" + one.name + ".npy");
  }
};

TEST_P(TinyModels, LogitsOfEveryPositionMatchTransformers) {
  const auto reference = runner({});
  ASSERT_NE(reference, nullptr);
  for (const GoldenCase& one : cases()) {
    const NpyArray golden = logits(one);
    const std::vector<float> ours = reference->all_logits(one.ids);
    ASSERT_EQ(ours.size(), golden.values.size()) << one.name;
    float worst = 0;
    for (size_t i = 0; i < ours.size(); ++i)
      worst = std::max(worst, std::abs(ours[i] - golden.values[i]));
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
    EXPECT_EQ(last_logits_one_by_one(*chunks, one.ids), expected) << one.name;
  }
}

// The oracle of every canonical backend is the first of them, at one thread and in one pass; of
// that one, digests of another build.
TEST_P(TinyModels, CanonicalBackendsGiveEqualBits) {
  const std::vector<std::string> backends = canonical_backends();
  ASSERT_GE(backends.size(), 1u);
  DigestBook digests;
  for (const plumb_format activations : {PLUMB_ACT_Q8, PLUMB_F32}) {
    const auto oracle = runner({.backend = backends.front(), .activations = activations});
    ASSERT_NE(oracle, nullptr);
    std::vector<std::vector<float>> expected;
    for (const GoldenCase& one : cases()) {
      expected.push_back(oracle->all_logits(one.ids));
      digests.add(one.name + ", activations " + std::string(format_name(activations)),
                  expected.back());
    }
    for (const std::string& backend : backends) {
      const auto two_threads =
          runner({.backend = backend, .activations = activations, .n_threads = 2});
      const auto chunks =
          runner({.backend = backend, .activations = activations, .n_threads = 3, .chunk_rows = 7});
      ASSERT_TRUE(two_threads != nullptr && chunks != nullptr);
      size_t at = 0;
      for (const GoldenCase& one : cases()) {
        const std::vector<float>& rows = expected[at++];
        const auto last = std::span(rows).last(oracle->decoder().hyper_parameters().n_vocab);
        EXPECT_TRUE(same_bits(two_threads->all_logits(one.ids), rows))
            << backend << " " << one.name;
        EXPECT_TRUE(same_bits(chunks->all_logits(one.ids), rows)) << backend << " " << one.name;
        EXPECT_TRUE(same_bits(last_logits_one_by_one(*two_threads, one.ids), last))
            << backend << " " << one.name;
      }
    }
  }
  digests.settle(GetParam());
}

// An op on another backend of the same class changes no bit; the host makes and counts the copies.
TEST_P(TinyModels, OverridesOfOneClassChangeNothing) {
  const std::vector<std::string> backends = canonical_backends();
  ASSERT_GE(backends.size(), 1u);
  const auto plain = runner({.backend = backends.back(), .activations = PLUMB_ACT_Q8});
  const auto mixed = runner({.backend = backends.back(),
                             .activations = PLUMB_ACT_Q8,
                             .n_threads = 2,
                             .overrides = {{"attn_q_rope", backends.front()},
                                           {"attend", backends.front()},
                                           {"ffn_down", backends.front()},
                                           {"output", backends.front()}}});
  ASSERT_TRUE(plain != nullptr && mixed != nullptr);
  for (const GoldenCase& one : cases()) {
    EXPECT_TRUE(same_bits(mixed->all_logits(one.ids), plain->all_logits(one.ids))) << one.name;
  }
  EXPECT_EQ(plain->decoder().counters().n_copies, 0u);
  EXPECT_GT(mixed->decoder().counters().n_copies, 0u);
}

TEST_P(TinyModels, OverridesNameKindsToo) {
  const std::string backend = canonical_backends().back();
  const auto mixed = runner({.backend = backend, .overrides = {{"rope", "plumb.reference"}}});
  ASSERT_NE(mixed, nullptr);
  mixed->last_logits(cases().front().ids);
  // Queries and keys go over and come back, in every layer.
  EXPECT_EQ(mixed->decoder().counters().n_copies,
            4u * mixed->decoder().hyper_parameters().n_layers);
}

/// Reads everything before and after each op, writes it back as it was, and runs the op again.
class Busybody : public model::OpObserver {
 public:
  bool wants(const model::OpInfo&) override { return true; }
  Result<void> before(model::OpSite& site) override {
    for (size_t operand = 0; operand < site.info().operands.size(); ++operand) {
      std::vector<float> values;
      PLUMB_TRY(site.read_input(operand, values));
      EXPECT_EQ(values.size(), site.input_shape(operand).size()) << site.info().name;
      PLUMB_TRY(site.write_input(operand, values));
    }
    return {};
  }
  Result<void> after(model::OpSite& site) override {
    ++n_seen;
    if (!site.has_output()) return {};
    std::vector<float> values;
    PLUMB_TRY(site.read_output(values));
    EXPECT_EQ(values.size(), site.output_shape().size()) << site.info().name;
    return site.write_output(values);
  }
  size_t n_seen = 0;
};

TEST_P(TinyModels, AnObserverChangesNothing) {
  const auto tapped =
      runner({.backend = canonical_backends().back(), .activations = PLUMB_ACT_Q8, .n_threads = 2});
  ASSERT_NE(tapped, nullptr);
  for (const GoldenCase& one : cases()) {
    const std::vector<float> without = tapped->last_logits(one.ids);
    Busybody observer;
    tapped->decoder().set_observer(&observer);
    EXPECT_TRUE(same_bits(tapped->last_logits(one.ids), without)) << one.name;
    tapped->decoder().set_observer(nullptr);
    EXPECT_EQ(observer.n_seen, tapped->decoder().ops().size());
  }
}

class Canceller : public model::OpObserver {
 public:
  bool wants(const model::OpInfo& op) override { return op.name == "1.attend"; }
  Result<void> after(model::OpSite&) override {
    cancel = true;
    return {};
  }
  std::atomic<bool> cancel = false;
};

TEST_P(TinyModels, CancelEndsAForwardBetweenOpsAndLeavesNothing) {
  const auto one =
      runner({.backend = canonical_backends().back(), .activations = PLUMB_ACT_Q8, .n_threads = 2});
  ASSERT_NE(one, nullptr);
  model::Decoder& decoder = one->decoder();
  const std::vector<int32_t> ids = cases().front().ids;
  const std::vector<float> before = one->last_logits(ids);
  ASSERT_TRUE(decoder.truncate(0));
  Canceller observer;
  decoder.set_observer(&observer);
  decoder.set_cancel(&observer.cancel);
  const auto cancelled = decoder.forward(ids);
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().code, PLUMB_CANCELLED);
  EXPECT_EQ(decoder.n_past(), 0u);
  decoder.set_observer(nullptr);
  decoder.set_cancel(nullptr);
  EXPECT_TRUE(same_bits(one->last_logits(ids), before));
}

INSTANTIATE_TEST_SUITE_P(Golden, TinyModels, testing::ValuesIn(tiny_models()), [](const auto& one) {
  std::string name = one.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace plumbline::test
