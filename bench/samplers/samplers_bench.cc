// samplers_bench.cc: one application of each sampler stage to a row of 151,936 logits, Qwen's
// vocabulary, behind a history of 4,096 ids. The rows: `steep`, a peak of forty candidates above a
// normal body, as a model's; `flat`, the body alone, where nuclei are large. The copy of the row
// that each application begins with is in the figures, and stands alone as `copy`.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "plumb/sdk/abi.h"
#include "sampler_table.h"

namespace plumbline::bench {
namespace {

constexpr uint32_t kVocab = 151936;
constexpr size_t kHistory = 4096;

std::vector<float> row(bool is_steep) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 2.5f);
  std::vector<float> logits(kVocab);
  for (float& logit : logits) logit = normal(random);
  if (is_steep) {
    for (int i = 0; i < 40; ++i)
      logits[random() % kVocab] = 20 - 3 * std::log(static_cast<float>(i + 1));
  }
  return logits;
}

struct Case {
  const char* stage;
  const char* params;
};

constexpr Case kCases[] = {
    {"frequency", R"({"strength": 0.5, "count": "all"})"},
    {"presence", R"({"strength": 0.5, "count": "all"})"},
    {"repetition", R"({"theta": 1.1})"},
    {"repetition", R"({"theta": 1.1, "rule": "ctrl_sign"})"},
    {"dry", R"({"multiplier": 0.8})"},
    {"logit_bias", R"({"biases": {"7": 1, "900": "-inf"}})"},
    {"grammar_mask", ""},
    {"cap", ""},
    {"top_k", R"({"k": 40})"},
    {"top_p", R"({"p": 0.95})"},
    {"min_p", R"({"p": 0.05})"},
    {"typical", R"({"p": 0.95})"},
    {"top_n_sigma", R"({"n": 1})"},
    {"xtc", R"({"probability": 1})"},
    {"temperature", R"({"t": 0.7})"},
    {"dynamic_temperature", R"({"t": 0.7, "range": 0.3})"},
    {"greedy", ""},
    {"cdf", ""},
    {"gumbel", ""},
    {"xorshift64", ""},
    {"mirostat_v2", ""},
};

/// A row with the arrays and facts that a host would give.
class Fixture {
 public:
  explicit Fixture(bool is_steep) : fresh_(row(is_steep)), logits_(kVocab), ids_(kVocab) {
    std::mt19937 random(2);
    for (size_t i = 0; i < kHistory; ++i) history_.push_back(static_cast<int32_t>(random() % 3000));
    context = make_abi<plumb_sample_context>();
    context.n_vocab = kVocab;
    context.seed = 1;
    context.prompt_ids = history_.data();
    context.n_prompt_ids = kHistory / 2;
    context.generated_ids = history_.data() + kHistory / 2;
    context.n_generated_ids = kHistory / 2;
    context.control_bits = control_.data();
    context.allowed_bits = allowed_.data();
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  void refill() {
    std::memcpy(logits_.data(), fresh_.data(), kVocab * sizeof(float));
    std::iota(ids_.begin(), ids_.end(), 0);
    candidates = make_abi<plumb_candidates>();
    candidates.ids = ids_.data();
    candidates.logits = logits_.data();
    candidates.n = kVocab;
    candidates.picked = -1;
    candidates.cap_edge = -1;
    ++context.step;
  }

  plumb_sample_context context{};
  plumb_candidates candidates{};

 private:
  std::vector<float> fresh_, logits_;
  std::vector<int32_t> ids_, history_;
  std::vector<uint64_t> control_ = std::vector<uint64_t>((kVocab + 63) / 64, 0);
  std::vector<uint64_t> allowed_ = std::vector<uint64_t>((kVocab + 63) / 64, 0x5555555555555555);
};

void copy(benchmark::State& state, bool is_steep) {
  Fixture fixture(is_steep);
  for (auto _ : state) {
    fixture.refill();
    benchmark::DoNotOptimize(fixture.candidates);
  }
}

void apply(benchmark::State& state, const Case& one, bool is_steep) {
  const plumb_sampler& table = samplers::core::sampler_table();
  ErrorBuffer error;
  void* stage = nullptr;
  if (table.create(nullptr, to_abi(one.stage), to_abi(one.params), kVocab, &stage, error) !=
      PLUMB_OK)
    throw std::runtime_error(std::string(error.message()));
  const uint64_t bytes = (table.scratch_bytes(stage) + 63) / 64 * 64;
  const std::unique_ptr<void, decltype(&std::free)> scratch(std::aligned_alloc(64, bytes + 64),
                                                            std::free);
  Fixture fixture(is_steep);
  for (auto _ : state) {
    fixture.refill();
    if (table.apply(stage, &fixture.context, scratch.get(), &fixture.candidates, error) != PLUMB_OK)
      throw std::runtime_error(std::string(error.message()));
  }
  state.counters["kept"] = fixture.candidates.n;
  table.destroy(stage);
}

}  // namespace
}  // namespace plumbline::bench

int main(int argc, char** argv) {
  using namespace plumbline::bench;
  for (const bool is_steep : {true, false}) {
    const std::string kind = is_steep ? "steep/" : "flat/";
    benchmark::RegisterBenchmark((kind + "copy").c_str(), copy, is_steep)
        ->Unit(benchmark::kMicrosecond);
    for (const Case& one : kCases) {
      benchmark::RegisterBenchmark((kind + one.stage + one.params).c_str(), apply, one, is_steep)
          ->Unit(benchmark::kMicrosecond);
    }
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
