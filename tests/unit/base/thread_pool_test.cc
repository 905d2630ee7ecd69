// The host's threads: every part runs once, whatever the number of threads and however long they
// slept.
#include "core/base/thread_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <thread>
#include <vector>

namespace plumbline::test {
namespace {

TEST(ThreadPool, RunsEveryPartOnce) {
  for (const uint32_t n_threads : {1u, 2u, 3u, 7u}) {
    ThreadPool pool(n_threads);
    ASSERT_EQ(pool.n_threads(), n_threads);
    std::vector<std::atomic<int>> runs(n_threads);
    std::vector<std::thread::id> threads(n_threads);
    for (int job = 1; job <= 500; ++job) {
      pool.run([&](uint32_t part) {
        ++runs[part];
        threads[part] = std::this_thread::get_id();
      });
      for (uint32_t part = 0; part < n_threads; ++part) {
        ASSERT_EQ(runs[part], job) << "part " << part;
      }
    }
    EXPECT_EQ(threads[0], std::this_thread::get_id());
    std::sort(threads.begin(), threads.end());
    EXPECT_EQ(std::unique(threads.begin(), threads.end()), threads.end());
  }
}

TEST(ThreadPool, WritesOfEveryPartAreSeen) {
  ThreadPool pool(4);
  std::vector<uint64_t> sums(4, 0);  // not atomic: run is what orders them
  for (uint64_t job = 0; job < 1000; ++job) {
    pool.run([&](uint32_t part) { sums[part] += job + part; });
  }
  for (uint64_t part = 0; part < 4; ++part) EXPECT_EQ(sums[part], 1000 * 999 / 2 + 1000 * part);
}

TEST(ThreadPool, WakesThreadsThatSleep) {
  ThreadPool pool(3);
  std::atomic<int> runs{0};
  for (int job = 0; job < 3; ++job) {
    // Longer than workers spin; correct in any case, whether they are asleep by then or not.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    pool.run([&](uint32_t) { ++runs; });
  }
  EXPECT_EQ(runs, 9);
}

TEST(ThreadPool, PoolsLiveSideBySide) {
  ThreadPool outer(2);
  std::vector<int> runs(2 * 3, 0);
  outer.run([&](uint32_t part) {
    ThreadPool inner(3);
    inner.run([&](uint32_t inner_part) { ++runs[part * 3 + inner_part]; });
  });
  EXPECT_EQ(runs, std::vector<int>(6, 1));
}

TEST(ThreadPool, WorkersRoundToNearest) {
  std::fesetround(FE_UPWARD);
  ThreadPool pool(2);
  std::vector<int> modes(2);
  pool.run([&](uint32_t part) { modes[part] = std::fegetround(); });
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(modes[1], FE_TONEAREST);
}

}  // namespace
}  // namespace plumbline::test
