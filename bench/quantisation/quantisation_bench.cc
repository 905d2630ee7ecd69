// quantisation_bench.cc: softmax and KL divergence of two rows of logits: RowScorer, and its rival,
// the same in plain loops with std::exp. Widths: SmolLM2's and Gemma 3's vocabularies.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "core/diff/quantisation_rows.h"

namespace plumbline::bench {
namespace {

struct RowPair {
  std::vector<float> a, b;

  explicit RowPair(int64_t width) : a(static_cast<size_t>(width)), b(a.size()) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal(0, 3);
    for (size_t i = 0; i < a.size(); ++i) {
      a[i] = normal(random);
      b[i] = a[i] + 0.01f * normal(random);
    }
  }
};

void per_logit(benchmark::State& state) {
  state.counters["s/logit"] = benchmark::Counter(
      static_cast<double>(state.range(0)),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void Scorer(benchmark::State& state) {
  const RowPair rows(state.range(0));
  diff::RowScorer scorer;
  for (auto _ : state) benchmark::DoNotOptimize(scorer.score_pair(rows.a, rows.b, 5));
  per_logit(state);
}

double log_sum(const std::vector<float>& row) {
  const double largest = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (const float value : row) sum += std::exp(value - largest);
  return largest + std::log(sum);
}

void PlainLoops(benchmark::State& state) {
  const RowPair rows(state.range(0));
  for (auto _ : state) {
    const double log_a = log_sum(rows.a), log_b = log_sum(rows.b);
    double kl = 0;
    for (size_t i = 0; i < rows.a.size(); ++i) {
      const double ln_a = rows.a[i] - log_a, ln_b = rows.b[i] - log_b;
      kl += std::exp(ln_a) * (ln_a - ln_b);
    }
    benchmark::DoNotOptimize(kl);
  }
  per_logit(state);
}

BENCHMARK(Scorer)->Arg(49152)->Arg(262144);
BENCHMARK(PlainLoops)->Arg(49152)->Arg(262144);

}  // namespace
}  // namespace plumbline::bench

BENCHMARK_MAIN();
