// Several sequences in one step. Oracle: each of them alone, bit for bit.
#include <gmock/gmock.h>

#include "core/model/decoder.h"
#include "core/model/op_observer.h"
#include "plumb/sdk/half.h"
#include "tests/support/model_harness.h"
#include "tests/support/nan_embedding.h"
#include "tests/support/temporary_folder.h"

namespace plumbline::test {
namespace {

using model::Sequence;
using model::SequenceIds;
using testing::HasSubstr;

std::string model_path(const std::string& name) {
  return golden_folder(name) + "/model.gguf";
}

std::vector<int32_t> some_ids(size_t n, int32_t seed) {
  std::vector<int32_t> ids(n);
  for (size_t i = 0; i < n; ++i) ids[i] = (seed * 31 + static_cast<int32_t>(i) * 7) % 60 + 1;
  return ids;
}

/// What each sequence takes part with in each step: 0, not at all.
const std::vector<std::vector<size_t>> kSteps = {{5, 1, 0, 2}, {1, 3, 7, 0}, {1, 1, 1, 1},
                                                 {0, 1, 2, 1}, {9, 1, 1, 6}, {1, 1, 1, 1}};
constexpr size_t kSequences = 4;

/// Logits of each step and sequence, one sequence after the other from an empty cache.
std::vector<std::vector<float>> alone(const std::string& model, const RunnerOptions& options) {
  std::vector<std::vector<float>> rows(kSteps.size() * kSequences);
  const auto runner = Runner::create(model_path(model), options);
  for (size_t sequence = 0; sequence < kSequences; ++sequence) {
    EXPECT_TRUE(runner->decoder().truncate(0));
    for (size_t step = 0; step < kSteps.size(); ++step) {
      const auto seed = static_cast<int32_t>(step * kSequences + sequence);
      const std::vector<int32_t> ids = some_ids(kSteps[step][sequence], seed);
      if (ids.empty()) continue;
      const auto row = runner->decoder().forward(ids);
      EXPECT_TRUE(row) << row.error().message;
      if (row) rows[step * kSequences + sequence].assign(row->begin(), row->end());
    }
  }
  return rows;
}

/// The same, together.
std::vector<std::vector<float>> together(const std::string& model, const RunnerOptions& options,
                                         model::OpObserver* observer = nullptr) {
  std::vector<std::vector<float>> rows(kSteps.size() * kSequences);
  const auto runner = Runner::create(model_path(model), options);
  model::Decoder& decoder = runner->decoder();
  decoder.set_observer(observer);
  std::vector<Sequence*> sequences = {&decoder.sequence()};
  while (sequences.size() < kSequences) {
    const auto made = decoder.create_sequence();
    EXPECT_TRUE(made) << made.error().message;
    sequences.push_back(*made);
  }
  for (size_t step = 0; step < kSteps.size(); ++step) {
    std::vector<std::vector<int32_t>> ids;
    std::vector<size_t> places;
    for (size_t sequence = 0; sequence < kSequences; ++sequence) {
      places.push_back(step * kSequences + sequence);
      ids.push_back(some_ids(kSteps[step][sequence], static_cast<int32_t>(places.back())));
    }
    std::vector<SequenceIds> parts;
    for (size_t sequence = 0; sequence < kSequences; ++sequence) {
      if (!ids[sequence].empty()) parts.push_back({sequences[sequence], ids[sequence]});
    }
    const auto done = decoder.step(parts);
    EXPECT_TRUE(done) << done.error().message;
    size_t part = 0;
    for (size_t sequence = 0; sequence < kSequences; ++sequence) {
      if (ids[sequence].empty()) continue;
      const std::span<const float> logits = parts[part++].logits;
      rows[places[sequence]].assign(logits.begin(), logits.end());
    }
  }
  decoder.set_observer(nullptr);
  return rows;
}

void expect_same(const std::vector<std::vector<float>>& ours,
                 const std::vector<std::vector<float>>& expected) {
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_TRUE(same_bits(ours[i], expected[i])) << "step and sequence " << i;
}

class Sequences : public testing::TestWithParam<KernelsPlugin> {};

TEST_P(Sequences, HaveTheBitsOfEachAlone) {
  // An engine of WebAssembly takes a second to make: one case has to do.
  const bool is_slow = GetParam().id == "plumb.wasm";
  for (const char* name : {"tiny-formats", "tiny-gemma3", "tiny-llama"}) {
    for (const plumb_format activations : {PLUMB_ACT_Q8, PLUMB_F32}) {
      RunnerOptions options{.backend = GetParam().name(),
                            .activations = activations,
                            .kv_format = activations == PLUMB_F32 ? PLUMB_F16 : PLUMB_F32,
                            .context_rows = 32};
      const auto expected = alone(name, options);
      for (const auto& [n_threads, chunk_rows] : {std::pair(2u, 4u), {1u, 512u}, {2u, 512u}}) {
        SCOPED_TRACE(std::string(name) + ", chunks of " + std::to_string(chunk_rows));
        options.n_threads = n_threads;
        options.chunk_rows = chunk_rows;
        expect_same(together(name, options), expected);
        if (is_slow) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Sequences, testing::ValuesIn(runnable_kernels()),
                         [](const auto& kernels) {
                           std::string name = kernels.param.name();
                           for (char& c : name) c = std::isalnum(c) != 0 ? c : '_';
                           return name;
                         });

TEST(SequencesOfOneDecoder, GoRoundInTheirWindowsAsEachAlone) {
  for (const uint32_t chunk_rows : {512u, 3u}) {
    const RunnerOptions options{.backend = "plumb.cpu.scalar",
                                .activations = PLUMB_ACT_Q8,
                                .chunk_rows = chunk_rows,
                                .context_rows = 6,
                                .window = {.policy = model::WindowPolicy::kSinkRing, .sinks = 2}};
    expect_same(together("tiny-gemma3", options), alone("tiny-gemma3", options));
  }
}

TEST(SequencesOfOneDecoder, LieOnSeveralBackends) {
  const RunnerOptions options{
      .backend = "plumb.cpu.scalar",
      .chunk_rows = 4,
      .context_rows = 32,
      .overrides = {{"rope", "plumb.reference"}, {"attend", "plumb.reference"}}};
  expect_same(together("tiny-llama", options), alone("tiny-llama", options));
}

// Counts what it is asked, and sees that rows belong together.
class Watcher : public model::OpObserver {
 public:
  bool wants(const model::OpInfo&) override { return true; }
  Result<void> after(model::OpSite& site) override {
    ++n_ops;
    if (!site.has_output()) return {};
    return site.read_output(values_);
  }

  size_t n_ops = 0;

 private:
  std::vector<float> values_;
};

TEST(SequencesOfOneDecoder, HaveTheSameBitsWhenTheyAreWatched) {
  const RunnerOptions options{.backend = "plumb.cpu.scalar", .context_rows = 32};
  Watcher watcher;
  expect_same(together("tiny-llama", options, &watcher), alone("tiny-llama", options));
  EXPECT_GT(watcher.n_ops, 0u);
}

TEST(SequencesOfOneDecoder, ManyOfThemTakeSeveralHeads) {
  const auto runner =
      Runner::create(model_path("tiny-llama"), {.backend = "plumb.cpu.scalar", .context_rows = 8});
  ASSERT_NE(runner, nullptr);
  model::Decoder& decoder = runner->decoder();
  std::vector<SequenceIds> parts;
  std::vector<std::vector<int32_t>> ids;
  for (int32_t i = 0; i < 20; ++i) ids.push_back(some_ids(1 + static_cast<size_t>(i) % 3, i));
  for (const auto& of_one : ids) parts.push_back({*decoder.create_sequence(), of_one});
  ASSERT_TRUE(decoder.step(parts));
  for (size_t i = 0; i < parts.size(); ++i)
    EXPECT_TRUE(same_bits(parts[i].logits, runner->last_logits(ids[i])));
}

TEST(SequencesOfOneDecoder, AreRefusedByName) {
  const auto runner =
      Runner::create(model_path("tiny-llama"), {.backend = "plumb.cpu.scalar", .context_rows = 8});
  ASSERT_NE(runner, nullptr);
  model::Decoder& decoder = runner->decoder();
  Sequence* const one = *decoder.create_sequence();
  Sequence* const two = *decoder.create_sequence();
  const std::vector<int32_t> good = {1, 2, 3}, outside = {1, -7}, long_ids(9, 1);
  const auto refused = [&](std::vector<SequenceIds> parts, const std::string& message) {
    const auto done = decoder.step(parts);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, PLUMB_INVALID_ARGUMENT);
    EXPECT_THAT(done.error().message, HasSubstr(message));
    EXPECT_EQ(one->n_past() + two->n_past() + decoder.n_past(), 0u);
  };
  refused({{one, good}, {two, outside}}, "sequence 2: id -7 at index 1 is outside");
  refused({{one, good}, {&decoder.sequence(), long_ids}}, "sequence 0: the context is full");
  refused({{one, {}}, {two, good}}, "sequence 1: no ids");
  refused({{one, good}, {two, good}, {one, good}}, "sequence 1 is listed twice");
  EXPECT_TRUE(decoder.step({}));
  decoder.destroy_sequence(*one);
  std::vector<SequenceIds> parts = {{two, good}};
  EXPECT_TRUE(decoder.step(parts));
  EXPECT_EQ((*decoder.create_sequence())->number(), 3u);
}

TEST(SequencesOfOneDecoder, HoldWhatTheyHeldAfterACancel) {
  const auto runner =
      Runner::create(model_path("tiny-llama"), {.backend = "plumb.cpu.scalar", .chunk_rows = 2});
  ASSERT_NE(runner, nullptr);
  model::Decoder& decoder = runner->decoder();
  const std::vector<int32_t> ids = {1, 2, 3};
  std::vector<SequenceIds> parts = {{*decoder.create_sequence(), ids},
                                    {*decoder.create_sequence(), ids}};
  const std::atomic<bool> cancel{true};
  decoder.set_cancel(&cancel);
  const auto done = decoder.step(parts);
  decoder.set_cancel(nullptr);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, PLUMB_CANCELLED);
  for (const SequenceIds& part : parts) EXPECT_EQ(part.sequence->n_past(), 0u);
  ASSERT_TRUE(decoder.step(parts));
  EXPECT_TRUE(same_bits(parts[1].logits, runner->last_logits(ids)));
}

// A model whose embedding of one id is not a number.
TEST(SequencesOfOneDecoder, HoldWhatTheyHeldAfterAnError) {
  constexpr int32_t kBroken = 9;
  const auto whole = model::ModelFile::open(gguf<plumb_loader>(PLUMB_EXT_LOADER), &small_host(),
                                            model_path("tiny-llama"));
  ASSERT_TRUE(whole);
  const std::string bytes = with_nan_embedding(model_path("tiny-llama"), *whole, kBroken);
  const TemporaryFolder folder;
  for (const uint32_t chunk_rows : {512u, 2u}) {
    const auto runner = Runner::create(
        folder.write("model.gguf", bytes),
        {.backend = "plumb.cpu.scalar", .activations = PLUMB_ACT_Q8, .chunk_rows = chunk_rows});
    ASSERT_NE(runner, nullptr);
    model::Decoder& decoder = runner->decoder();
    Sequence* const one = *decoder.create_sequence();
    Sequence* const two = *decoder.create_sequence();
    const std::vector<int32_t> first = {1, 2, 3}, second = {4, 5}, broken = {6, 7, kBroken, 8};
    std::vector<SequenceIds> parts = {{one, first}, {two, second}};
    ASSERT_TRUE(decoder.step(parts));
    std::vector<SequenceIds> failing = {{one, second}, {two, broken}};
    const auto done = decoder.step(failing);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, PLUMB_NUMERIC);
    EXPECT_EQ(one->n_past(), 3u);
    EXPECT_EQ(two->n_past(), 2u);
    std::vector<SequenceIds> next = {{two, first}, {one, second}};
    ASSERT_TRUE(decoder.step(next));
    EXPECT_TRUE(
        same_bits(next[0].logits, runner->last_logits(std::vector<int32_t>{4, 5, 1, 2, 3})));
    EXPECT_TRUE(
        same_bits(next[1].logits, runner->last_logits(std::vector<int32_t>{1, 2, 3, 4, 5})));
  }
}

TEST(SequencesOfOneDecoder, NeedMemoryForTheirCaches) {
  // 2 layers of [2^31,2,16] take 550 GB: more than any machine that runs this.
  const auto file = model::ModelFile::open(gguf<plumb_loader>(PLUMB_EXT_LOADER), &small_host(),
                                           model_path("tiny-llama"));
  ASSERT_TRUE(file);
  for (const KernelsPlugin& kernels : runnable_kernels()) {
    ThreadPool pool(1);
    const auto backend =
        model::Backend::create(kernels.id, *kernels.table, &small_host(), 1, "{}", kernels.variant);
    ASSERT_TRUE(backend);
    model::DecoderOptions options;
    options.backends = {backend->get()};
    options.activations = PLUMB_F32;
    options.context_rows = 0x7fffffff;
    const auto decoder = model::Decoder::create(*file, pool, options);
    ASSERT_FALSE(decoder) << kernels.name();
    EXPECT_EQ(decoder.error().code, PLUMB_INTERNAL) << decoder.error().message;
  }
}

// A WebAssembly backend has 4 GiB, so its end can be seen.
TEST(SequencesOfOneDecoder, GoOnWhereThereIsNoMemoryForAnother) {
  const bool has_wasm = std::ranges::any_of(
      runnable_kernels(), [](const KernelsPlugin& one) { return one.id == "plumb.wasm"; });
  if (!has_wasm) GTEST_SKIP() << "plumb.wasm is not in this build";
  const auto runner =
      Runner::create(model_path("tiny-llama"), {.backend = "plumb.wasm", .context_rows = 1u << 20});
  ASSERT_NE(runner, nullptr);
  model::Decoder& decoder = runner->decoder();
  Result<Sequence*> made = &decoder.sequence();
  for (int i = 0; i < 16 && made; ++i) made = decoder.create_sequence();
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, PLUMB_INTERNAL);
  EXPECT_THAT(made.error().message, HasSubstr("KV cache in F32"));
  EXPECT_TRUE(decoder.forward(std::vector<int32_t>{1, 2, 3}));
}

}  // namespace
}  // namespace plumbline::test
