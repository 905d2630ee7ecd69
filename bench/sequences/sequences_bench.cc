// sequences_bench.cc: tokens per second of several sequences that share each step, beside the same
// sequences one after the other; and what a window costs that evicts. Loading is not counted.
//
//   PLUMB_BENCH_MODEL=smollm2.gguf sequences_bench --benchmark_enable_random_interleaving=true
//       --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
//
// PLUMB_BENCH_SET=kernels.threads=1 overrides the config. README.md tells what was measured.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/config/load.h"
#include "core/host/host.h"
#include "core/pipeline/pipeline.h"

namespace plumbline {
namespace {

constexpr const char* kTinyWorld = PLUMB_SOURCE_DIR "/golden/models/tiny-world/model.gguf";
constexpr const char* kConfig = PLUMB_SOURCE_DIR "/configs/pipelines/tiny-world.yaml";
constexpr uint32_t kContext = 512;
constexpr uint32_t kDepth = 64;  // rows that each sequence holds when it begins to decode

template <typename T>
T value_of(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

std::string setting(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

pipeline::Pipeline& opened() {
  static Host host = value_of(Host::create({.paths = {PLUMB_BUILD_PLUGIN_DIR}}));
  static const config::ResolvedConfig config = value_of(
      config::load_config({.file = kConfig,
                           .overrides = {"context.length=" + std::to_string(kContext),
                                         setting("PLUMB_BENCH_SET", "kernels.threads=auto")},
                           .preset_folders = {PLUMB_SOURCE_DIR "/configs/presets"}}));
  static const std::unique_ptr<pipeline::Pipeline> opened = value_of(
      pipeline::Pipeline::open(config.config, host, setting("PLUMB_BENCH_MODEL", kTinyWorld)));
  return *opened;
}

model::Decoder& decoder() {
  static model::Decoder* const made = value_of(opened().decoder());
  return *made;
}

std::vector<int32_t> some_ids(uint32_t n) {
  std::vector<int32_t> ids(n);
  const uint32_t n_vocab = decoder().hyper_parameters().n_vocab;
  for (uint32_t i = 0; i < n; ++i)
    ids[i] = static_cast<int32_t>((uint64_t{i} * 7919 + 13) % n_vocab);
  return ids;
}

/// n sequences that hold kDepth rows each.
class Sequences {
 public:
  explicit Sequences(size_t n) : ids_(some_ids(kDepth)) {
    for (size_t i = 0; i < n; ++i) parts.push_back({value_of(decoder().create_sequence()), ids_});
    value_of(decoder().step(parts));
    for (model::SequenceIds& part : parts) part.ids = {&ids_[7], 1};
  }
  ~Sequences() {
    for (const model::SequenceIds& part : parts) decoder().destroy_sequence(*part.sequence);
  }
  Sequences(const Sequences&) = delete;
  Sequences& operator=(const Sequences&) = delete;

  /// Before a step: there is room for it.
  void make_room() {
    if (parts.front().sequence->n_past() < kContext) return;
    for (const model::SequenceIds& part : parts) value_of(part.sequence->truncate(kDepth));
  }

  std::vector<model::SequenceIds> parts;

 private:
  std::vector<int32_t> ids_;
};

/// The decoder's own sequence by forward: what a step of one is to be no slower than.
void alone(benchmark::State& state) {
  const std::vector<int32_t> ids = some_ids(kDepth);
  value_of(decoder().truncate(0));
  value_of(decoder().forward(ids));
  for (auto _ : state) {
    if (decoder().n_past() == kContext) value_of(decoder().truncate(kDepth));
    value_of(decoder().forward({&ids[7], 1}));
  }
  state.SetItemsProcessed(state.iterations());
}

void prefill(benchmark::State& state) {
  const std::vector<int32_t> ids = some_ids(kContext);
  for (auto _ : state) {
    value_of(decoder().truncate(0));
    value_of(decoder().forward(ids));
  }
  state.SetItemsProcessed(state.iterations() * kContext);
}

void together(benchmark::State& state) {
  Sequences sequences(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    sequences.make_room();
    value_of(decoder().step(sequences.parts));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void one_by_one(benchmark::State& state) {
  Sequences sequences(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    sequences.make_room();
    for (model::SequenceIds& part : sequences.parts) value_of(decoder().step({&part, 1}));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

/// One id after the other into a window of kContext rows that is full. Argument: what an eviction
/// leaves of them.
void window(benchmark::State& state) {
  model::DecoderOptions options;
  value_of(opened().decoder());  // which makes the backends
  for (const auto& backend : opened().backends()) options.backends.push_back(backend.get());
  options.context_rows = kContext;
  options.window = {.policy = model::WindowPolicy::kSinkRing,
                    .evict_to = static_cast<uint32_t>(state.range(0))};
  const auto made = value_of(model::Decoder::create(opened().file(), opened().threads(), options));
  const std::vector<int32_t> ids = some_ids(kContext);
  value_of(made->forward(ids));
  for (auto _ : state) value_of(made->forward({ids.data(), 1}));
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(alone)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(prefill)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(together)->Arg(1)->Arg(2)->Arg(4)->Arg(8)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(one_by_one)->Arg(1)->Arg(8)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(window)->Arg(0)->Arg(kContext - 1)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace plumbline

BENCHMARK_MAIN();
