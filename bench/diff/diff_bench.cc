// diff_bench.cc: a forced diff with statistics on all ops over 32 tokens, and the two plain runs
// that it is to cost no more than twice. Loading is not counted.
//
//   PLUMB_BENCH_MODEL=smollm2.gguf diff_bench --benchmark_enable_random_interleaving=true
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "core/diff/engine.h"

namespace plumbline::diff {
namespace {

constexpr const char* kTinyWorld = PLUMB_SOURCE_DIR "/golden/models/tiny-world/model.gguf";
constexpr const char* kConfig = PLUMB_SOURCE_DIR "/configs/pipelines/tiny-world.yaml";

template <typename T>
T value_of(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}

struct Opened {
  explicit Opened(const char* override)
      : config(value_of(
            config::load_config({.file = kConfig,
                                 .overrides = {override},
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

// Arithmetic that differs everywhere, which is dearer than bits that are equal.
Opened& side_a() {
  static Opened opened("kernels.activations=q8");
  return opened;
}
Opened& side_b() {
  static Opened opened("kernels.backend=plumb.cpu.fast");
  return opened;
}

std::vector<int32_t> prompt() {
  std::vector<int32_t> ids;
  for (int32_t i = 0; i < 32; ++i) ids.push_back(100 + 7 * i);
  return ids;
}

void PlainRuns(benchmark::State& state) {
  const std::vector<int32_t> ids = prompt();
  for (auto _ : state) {
    for (Opened* one : {&side_a(), &side_b()}) {
      if (!one->side->restart()) state.SkipWithError("restart");
      if (!one->side->forward(ids, {})) state.SkipWithError("forward");
    }
  }
}
BENCHMARK(PlainRuns)->Unit(benchmark::kMillisecond)->UseRealTime();

void ForcedDiff(benchmark::State& state) {
  DiffRequest request;
  request.prompts = {{.ids = prompt()}};
  request.n_steps = 1;
  for (auto _ : state) {
    const auto report = compare(*side_a().side, *side_b().side, request);
    if (!report) state.SkipWithError(report.error().message.c_str());
  }
}
BENCHMARK(ForcedDiff)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace plumbline::diff

BENCHMARK_MAIN();
