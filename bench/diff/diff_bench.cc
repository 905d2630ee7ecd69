// diff_bench.cc: a forced diff with statistics on all ops over 32 tokens, and the two plain runs
// that it is to cost no more than twice. Loading is not counted.
//
//   PLUMB_BENCH_MODEL=smollm2.gguf diff_bench --benchmark_enable_random_interleaving=true
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>

#include "core/diff/engine.h"

namespace plumbline::diff {
namespace {

constexpr const char* kTinyWorld = PLUMB_SOURCE_DIR "/golden/models/tiny-world/model.gguf";
constexpr const char* kConfig = PLUMB_SOURCE_DIR "/configs/pipelines/tiny-world.yaml";
constexpr const char* kNoise = PLUMB_SOURCE_DIR "/configs/diff/noise.json";
constexpr uint32_t kTokens = 32;

template <typename T>
T value_of(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}

struct Opened {
  explicit Opened(const char* override)
      : config(value_of(
            config::load_config({.file = kConfig,
                                 .overrides = {override, "sampling.profile=diff-greedy"},
                                 .preset_folders = {PLUMB_SOURCE_DIR "/configs/presets"}}))) {
    static Host host = value_of(Host::create({.paths = {PLUMB_BUILD_PLUGIN_DIR}}));
    const char* const model = std::getenv("PLUMB_BENCH_MODEL");
    pipeline = value_of(
        pipeline::Pipeline::open(config.config, host, model != nullptr ? model : kTinyWorld));
    side = value_of(make_side({.name = override, .model_sha256 = "same"}, config, *pipeline));
  }

  config::ResolvedConfig config;
  std::unique_ptr<pipeline::Pipeline> pipeline;
  std::unique_ptr<Side> side;
};

const NoiseTable& noise() {
  static const NoiseTable table = [] {
    std::ifstream file(kNoise);
    return value_of(
        NoiseTable::parse(std::string(std::istreambuf_iterator<char>(file), {}), "noise.json"));
  }();
  return table;
}

// What B is beside A, the canonical kernels: of the same class, whose bits are equal; or of
// arithmetic that differs everywhere.
enum Pair { kEqual, kUnequal };

Opened& side_a() {
  static Opened opened("kernels.activations=q8");
  return opened;
}
Opened& side_b(int64_t pair) {
  static Opened equal("kernels.backend=plumb.cpu.avx2");
  static Opened unequal("kernels.backend=plumb.cpu.fast");
  return pair == kEqual ? equal : unequal;
}

std::vector<int32_t> prompt(int64_t n) {
  std::vector<int32_t> ids;
  for (int32_t i = 0; i < n; ++i) ids.push_back(100 + 7 * i);
  return ids;
}

// Arguments: the pair, and how many of the tokens are the prompt's; the others are run one by one.
void PlainRuns(benchmark::State& state) {
  const std::vector<int32_t> ids = prompt(kTokens);
  const auto n_prompt = static_cast<size_t>(state.range(1));
  for (auto _ : state) {
    for (Opened* one : {&side_a(), &side_b(state.range(0))}) {
      if (!one->side->restart()) state.SkipWithError("restart");
      if (!one->side->forward(std::span(ids).first(n_prompt), {})) state.SkipWithError("prompt");
      for (size_t i = n_prompt; i < ids.size(); ++i) {
        if (!one->side->forward(std::span(ids).subspan(i, 1), {})) state.SkipWithError("token");
      }
    }
  }
}

void ForcedDiff(benchmark::State& state) {
  DiffRequest request;
  request.prompts = {{.ids = prompt(state.range(1))}};
  request.n_steps = kTokens + 1 - static_cast<uint32_t>(state.range(1));
  request.noise = &noise();
  std::string verdict;
  for (auto _ : state) {
    const auto report = compare(*side_a().side, *side_b(state.range(0)).side, request);
    if (!report) state.SkipWithError(report.error().message.c_str());
    if (report) verdict = verdict_name(report->verdict);
  }
  state.SetLabel(verdict);
}

void all(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"pair", "prompt"})->Unit(benchmark::kMillisecond)->UseRealTime();
  for (const int64_t pair : {kEqual, kUnequal}) {
    for (const int64_t n_prompt : {32, 4}) bench->Args({pair, n_prompt});
  }
}
BENCHMARK(PlainRuns)->Apply(all);
BENCHMARK(ForcedDiff)->Apply(all);

}  // namespace
}  // namespace plumbline::diff

BENCHMARK_MAIN();
