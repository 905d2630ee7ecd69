// pool_bench.cc: what the host's threads cost and gain: a barrier alone, work that is all
// arithmetic, and a decode-like chain of short jobs, quiet and beside processes that never rest.
//
//   pool_bench --benchmark_filter=Chain
#include <benchmark/benchmark.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "core/base/thread_pool.h"

namespace plumbline::bench {
namespace {

/// Processes that take all the time they get.
class Burners {
 public:
  explicit Burners(int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      const pid_t pid = ::fork();
      if (pid == 0) {
        for (uint64_t n_turns = 0;; ++n_turns) benchmark::DoNotOptimize(n_turns);
      }
      pids_.push_back(pid);
    }
  }
  ~Burners() {
    for (const pid_t pid : pids_) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
  }
  Burners(const Burners&) = delete;
  Burners& operator=(const Burners&) = delete;

 private:
  std::vector<pid_t> pids_;
};

// A chain of dependent multiplications: about 1.2 ns each, no memory.
uint32_t spend(uint32_t n_steps, uint32_t seed) {
  for (uint32_t i = 0; i < n_steps; ++i) seed = seed * 1664525u + 1013904223u;
  return seed;
}

/// One job of `steps` in n_parts parts.
void work_off(ThreadPool& pool, uint32_t n_parts, uint32_t n_steps) {
  pool.run(n_parts, [&](uint32_t, uint32_t part) {
    benchmark::DoNotOptimize(spend(n_steps / n_parts, part));
  });
}

void barrier(benchmark::State& state) {
  const auto n_threads = static_cast<uint32_t>(state.range(0));
  ThreadPool pool(n_threads);
  for (auto _ : state) pool.run(n_threads, [](uint32_t, uint32_t) {});
}

void compute(benchmark::State& state) {
  const auto n_threads = static_cast<uint32_t>(state.range(0));
  ThreadPool pool(n_threads);
  for (auto _ : state) work_off(pool, 4 * n_threads, 1u << 22);
}

// As a token of a small model: 200 jobs of about 20 us for one thread, then the caller alone.
void chain(benchmark::State& state) {
  const auto n_threads = static_cast<uint32_t>(state.range(0));
  const Burners burners(state.range(1));
  ThreadPool pool(n_threads);
  for (auto _ : state) {
    for (int job = 0; job < 200; ++job) work_off(pool, pool.n_at_work(), 16000);
    benchmark::DoNotOptimize(spend(100000, 1));
  }
  state.counters["at_work"] = pool.n_at_work();
}

BENCHMARK(barrier)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(compute)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime()->Unit(
    benchmark::kMillisecond);
BENCHMARK(chain)
    ->ArgNames({"threads", "burners"})
    ->ArgsProduct({{1, 2}, {0, 1, 2}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace plumbline::bench

BENCHMARK_MAIN();
