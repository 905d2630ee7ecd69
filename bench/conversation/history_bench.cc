// history_bench.cc: one more turn of a conversation of 200: rendering it, encoding all of it, and
// encoding what is new.
//
//   PLUMB_BENCH_MODEL=smollm2.gguf history_bench --benchmark_enable_random_interleaving=true
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "core/config/load.h"
#include "core/conversation/span_cache.h"
#include "core/pipeline/pipeline.h"

namespace plumbline::conversation {
namespace {

using pipeline::OrderedJson;

constexpr const char* kTinyWorld = PLUMB_SOURCE_DIR "/golden/models/tiny-world/model.gguf";
constexpr const char* kConfig = PLUMB_SOURCE_DIR "/configs/pipelines/tiny-world.yaml";
constexpr int kTurns = 200;

template <typename T>
T value_of(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}

pipeline::Pipeline& opened() {
  static const auto instance = [] {
    static Host host = value_of(Host::create({.paths = {PLUMB_BUILD_PLUGIN_DIR}}));
    const auto config = value_of(config::load_config(
        {.file = kConfig, .preset_folders = {PLUMB_SOURCE_DIR "/configs/presets"}}));
    const char* const model = std::getenv("PLUMB_BENCH_MODEL");
    return value_of(
        pipeline::Pipeline::open(config.config, host, model != nullptr ? model : kTinyWorld));
  }();
  return *instance;
}

OrderedJson history(int n_turns) {
  OrderedJson messages = OrderedJson::array({{{"role", "system"}, {"content", "Be brief."}}});
  for (int turn = 0; turn < n_turns; ++turn) {
    const std::string number = std::to_string(turn);
    messages.push_back({{"role", "user"},
                        {"content", "In turn " + number +
                                        " I ask where the fisherman goes in the morning, and "
                                        "what he takes with him when it rains."}});
    messages.push_back({{"role", "assistant"},
                        {"content", "In answer " + number +
                                        " he goes down to the lake with a long net and a "
                                        "green coat, and the white goose goes with him."}});
  }
  messages.push_back({{"role", "user"}, {"content", "And then?"}});
  return messages;
}

pipeline::Prompt rendered(int n_turns) {
  return value_of(opened().render(history(n_turns), {}));
}

void Render(benchmark::State& state) {
  const OrderedJson messages = history(kTurns);
  for (auto _ : state) benchmark::DoNotOptimize(value_of(opened().render(messages, {})));
}

void EncodeAll(benchmark::State& state) {
  const pipeline::Prompt prompt = rendered(kTurns);
  size_t n_ids = 0;
  for (auto _ : state) n_ids = value_of(opened().encode_prompt(prompt)).ids.size();
  state.counters["ids"] = static_cast<double>(n_ids);
}

void EncodeWhatIsNew(benchmark::State& state) {
  SpanCache cache(*value_of(opened().tokenizer()), value_of(opened().control_bits()));
  // The turn before was encoded; this one is not yet.
  const pipeline::Prompt shorter = rendered(kTurns - 1), whole = rendered(kTurns);
  static_cast<void>(value_of(cache.encode(shorter)));
  size_t n_parts = 0;
  for (auto _ : state) {
    state.PauseTiming();
    SpanCache grown = cache;
    state.ResumeTiming();
    n_parts = value_of(grown.encode(whole)).size();
  }
  state.counters["parts"] = static_cast<double>(n_parts);
}

BENCHMARK(Render)->Unit(benchmark::kMillisecond);
BENCHMARK(EncodeAll)->Unit(benchmark::kMillisecond);
BENCHMARK(EncodeWhatIsNew)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace plumbline::conversation

BENCHMARK_MAIN();
