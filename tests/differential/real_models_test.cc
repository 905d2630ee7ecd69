// The three real models against transformers' logits and greedy ids (golden/models), and the
// canonical backends against each other. The long run has prompts of any length and every number of
// threads, the short one prompts of up to 32 ids, and for all but the smallest model one number of
// threads for each backend and choice of formats, in turn.
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "tests/support/model_harness.h"
#include "tests/support/pulled_model.h"

namespace plumbline::test {
namespace {

// The oracle is transformers in f32 on the same dequantised weights; its f32 sums in another order
// stay within 1.7e-4 of ours on these models (measured), so three times that is a difference of
// substance.
constexpr float kMaxAbsDifference = 5e-4f;
constexpr size_t kTop = 20;
constexpr size_t kShortPrompt = 32;  // ids: what a quick run spends on a real model

bool is_long_run() {
  return std::getenv("PLUMB_LONG_TESTS") != nullptr;
}

std::vector<int32_t> top(std::span<const float> logits) {
  std::vector<int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + kTop, order.end(), [&](int32_t a, int32_t b) {
    const float la = logits[static_cast<size_t>(a)], lb = logits[static_cast<size_t>(b)];
    return la != lb ? la > lb : a < b;
  });
  order.resize(kTop);
  return order;
}

class RealModels : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    path_ = pulled_model(GetParam());
    ASSERT_NE(path_, "") << GetParam() << " is missing: plumb model pull " << GetParam();
  }
  std::string folder() const { return golden_folder(GetParam()); }
  std::unique_ptr<Runner> runner(RunnerOptions options) const {
    options.context_rows = 1024;
    return Runner::create(path_, options);
  }
  std::vector<GoldenCase> cases() const {
    std::vector<GoldenCase> all = read_cases(folder() + "/cases.jsonl");
    if (!is_long_run())
      std::erase_if(all, [](const GoldenCase& one) { return one.ids.size() > kShortPrompt; });
    EXPECT_FALSE(all.empty());
    return all;
  }

  std::string path_;
};

TEST_P(RealModels, LogitsMatchTransformers) {
  const auto reference = runner({.n_threads = 2});
  ASSERT_NE(reference, nullptr);
  for (const GoldenCase& one : cases()) {
    const NpyArray golden = read_npy(folder() + "/logits-" + one.name + ".npy");
    const std::vector<float> ours = reference->last_logits(one.ids);
    ASSERT_EQ(ours.size(), golden.values.size()) << one.name;
    float worst = 0;
    for (size_t i = 0; i < ours.size(); ++i)
      worst = std::max(worst, std::abs(ours[i] - golden.values[i]));
    EXPECT_LE(worst, kMaxAbsDifference) << one.name;
    RecordProperty("worst_" + one.name, std::to_string(worst));
    // The same order, except where transformers' own logits are closer together than the two can
    // differ.
    const std::vector<int32_t> a = top(ours), b = top(golden.values);
    for (size_t rank = 0; rank < kTop; ++rank) {
      if (a[rank] == b[rank]) continue;
      const float gap = std::abs(golden.values[static_cast<size_t>(a[rank])] -
                                 golden.values[static_cast<size_t>(b[rank])]);
      EXPECT_LE(gap, 2 * worst) << one.name << ": rank " << rank;
    }
    std::printf("%s %s: %zu ids, largest difference %.3g\n", GetParam(), one.name.c_str(),
                one.ids.size(), worst);
  }
}

TEST_P(RealModels, GreedyIdsMatchTransformers) {
  const auto reference = runner({.n_threads = 2});
  ASSERT_NE(reference, nullptr);
  for (const GoldenCase& one : read_cases(folder() + "/greedy.jsonl")) {
    EXPECT_EQ(greedy(*reference, one.prompt_ids, one.ids.size()), one.ids) << one.name;
  }
}

// The promise of core/doc/numerics.md on real weights: backends, their variants, threads and batch
// splits change no bit. The oracle is the slowest, plumb.cpu.scalar, in one call; its own threads
// and splits are the tiny models' test.
TEST_P(RealModels, CanonicalBackendsGiveEqualBits) {
  const std::vector<std::string> backends = canonical_backends();
  ASSERT_GE(backends.size(), 2u);
  ASSERT_EQ(backends.front(), "plumb.cpu.scalar/scalar");
  const bool is_whole = is_long_run() || GetParam() == std::string("smollm2-135m");
  const std::pair<plumb_format, plumb_format> choices[] = {
      {PLUMB_ACT_Q8, PLUMB_F32}, {PLUMB_F32, PLUMB_F32}, {PLUMB_ACT_Q8, PLUMB_F16}};
  for (const auto& [activations, kv_format] : choices) {
    RunnerOptions options{.backend = backends.front(),
                          .activations = activations,
                          .kv_format = kv_format,
                          .n_threads = 2};
    std::vector<std::vector<float>> expected;
    const auto oracle = runner(options);
    ASSERT_NE(oracle, nullptr);
    for (const GoldenCase& one : cases()) expected.push_back(oracle->last_logits(one.ids));
    for (size_t b = 1; b < backends.size(); ++b) {
      options.backend = backends[b];
      for (const uint32_t n_threads : {1u, 2u}) {
        if (!is_whole && (b + n_threads) % 2 == static_cast<size_t>(kv_format == PLUMB_F16))
          continue;
        options.n_threads = n_threads;
        options.chunk_rows = 512;
        const auto whole = runner(options);
        options.chunk_rows = 7;
        const auto chunks = runner(options);
        ASSERT_TRUE(whole != nullptr && chunks != nullptr);
        size_t at = 0;
        for (const GoldenCase& one : cases()) {
          const std::string where =
              options.backend + " " + one.name + ", threads " + std::to_string(n_threads);
          EXPECT_TRUE(same_bits(whole->last_logits(one.ids), expected[at]))
              << where << ": in one call";
          EXPECT_TRUE(same_bits(chunks->last_logits(one.ids), expected[at]))
              << where << ": in chunks of 7";
          EXPECT_TRUE(same_bits(last_logits_one_by_one(*whole, one.ids), expected[at]))
              << where << ": one by one";
          ++at;
        }
      }
    }
  }
}

// Prompts of several lengths, then an id of each at a time. The oracle is each sequence alone.
TEST_P(RealModels, SequencesInOneStepGiveEqualBits) {
  constexpr size_t kIds = 6;
  const std::vector<std::string> backends = canonical_backends();
  ASSERT_GE(backends.size(), 2u);
  const auto made = runner({.backend = backends[1], .activations = PLUMB_ACT_Q8, .n_threads = 2});
  ASSERT_NE(made, nullptr);
  model::Decoder& decoder = made->decoder();
  std::vector<std::vector<int32_t>> ids;
  for (const GoldenCase& one : cases()) ids.push_back(one.ids);
  std::vector<model::SequenceIds> parts;
  for (const auto& prompt : ids) parts.push_back({*decoder.create_sequence(), prompt});
  std::vector<std::vector<int32_t>> picked(parts.size());
  for (auto& of_one : picked) of_one.reserve(kIds);  // parts look into them
  for (size_t step = 0; step < kIds; ++step) {
    const auto done = decoder.step(parts);
    ASSERT_TRUE(done) << done.error().message;
    for (size_t i = 0; i < parts.size(); ++i) {
      picked[i].push_back(argmax(parts[i].logits));
      parts[i].ids = std::span(picked[i]).last(1);
    }
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ(greedy(*made, ids[i], kIds), picked[i]);
    picked[i].pop_back();
    ids[i].insert(ids[i].end(), picked[i].begin(), picked[i].end());
    EXPECT_TRUE(same_bits(made->last_logits(ids[i]), parts[i].logits));
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, RealModels,
                         testing::Values("smollm2-135m", "gemma3-270m", "qwen2.5-coder-0.5b"),
                         [](const auto& one) {
                           std::string name = one.param;
                           for (char& c : name)
                             c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

}  // namespace
}  // namespace plumbline::test
