// The host's threads: every part runs once, whatever the number of threads and parts, however long
// threads slept and whoever was held up. Oracle: counts, and sums that are known beforehand.
#include "core/base/thread_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <latch>
#include <thread>
#include <vector>

namespace plumbline::test {
namespace {

using namespace std::chrono_literals;

TEST(ThreadPool, RunsEveryPartOnce) {
  for (const uint32_t n_threads : {1u, 2u, 3u, 7u}) {
    ThreadPool pool(n_threads);
    ASSERT_EQ(pool.n_threads(), n_threads);
    for (const uint32_t n_parts : {0u, 1u, 2u, 5u, 64u}) {
      std::vector<std::atomic<int>> runs(n_parts);
      for (int job = 1; job <= 200; ++job) {
        pool.run(n_parts, [&](uint32_t, uint32_t part) { ++runs[part]; });
        for (uint32_t part = 0; part < n_parts; ++part) ASSERT_EQ(runs[part], job) << part;
      }
    }
  }
}

TEST(ThreadPool, APartKnowsItsThreadAndComesInRisingOrder) {
  ThreadPool pool(4);
  std::vector<std::thread::id> ids(4);
  ids[0] = std::this_thread::get_id();
  for (int job = 0; job < 500; ++job) {
    std::vector<std::vector<uint32_t>> parts(4);
    pool.run(12, [&](uint32_t thread, uint32_t part) {
      if (ids[thread] == std::thread::id()) ids[thread] = std::this_thread::get_id();
      ASSERT_EQ(ids[thread], std::this_thread::get_id());
      parts[thread].push_back(part);
    });
    for (const auto& of_one : parts) EXPECT_TRUE(std::is_sorted(of_one.begin(), of_one.end()));
  }
}

TEST(ThreadPool, WorkersTakePart) {
  ThreadPool pool(3);
  std::latch all_here(3);  // opens only if each part is on a thread of its own
  pool.run(3, [&](uint32_t, uint32_t) { all_here.arrive_and_wait(); });
}

TEST(ThreadPool, WritesOfEveryPartAreSeen) {
  ThreadPool pool(4);
  std::vector<uint64_t> sums(9, 0);  // not atomic: run is what orders them
  for (uint64_t job = 0; job < 2000; ++job) {
    pool.run(9, [&](uint32_t, uint32_t part) { sums[part] += job + part; });
  }
  for (uint64_t part = 0; part < 9; ++part) EXPECT_EQ(sums[part], 2000 * 1999 / 2 + 2000 * part);
}

TEST(ThreadPool, JobsOfAnyShapeFollowEachOther) {
  ThreadPool pool(16);  // more than there are processors: late comers meet the next job
  uint64_t random = 1;
  for (int job = 0; job < 3000; ++job) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const auto n_parts = static_cast<uint32_t>(random >> 60) + 1;
    const bool is_long = (random >> 50 & 63) == 0;
    std::atomic<uint64_t> sum{0};
    pool.run(n_parts, [&](uint32_t, uint32_t part) {
      if (is_long) std::this_thread::sleep_for(100us);
      sum += part + 1;
    });
    ASSERT_EQ(sum, uint64_t{n_parts} * (n_parts + 1) / 2);
  }
}

TEST(ThreadPool, WakesThreadsThatSleep) {
  ThreadPool pool(3);
  std::atomic<int> runs{0};
  for (int job = 0; job < 3; ++job) {
    // Longer than workers spin; correct in any case, whether they are asleep by then or not.
    std::this_thread::sleep_for(20ms);
    pool.run(3, [&](uint32_t, uint32_t) { ++runs; });
  }
  EXPECT_EQ(runs, 9);
}

// A worker that holds its part for long looks to the caller like one whose processor was taken.
TEST(ThreadPool, WorkersThatHoldUpTheRestAreSentToSleepAndComeBack) {
  ThreadPool pool(2);
  std::atomic<uint64_t> n_runs{0};
  uint64_t n_jobs = 0;
  while (pool.n_at_work() == 2) {
    std::latch both_here(2);
    pool.run(2, [&](uint32_t thread, uint32_t) {
      both_here.arrive_and_wait();
      if (thread == 1) std::this_thread::sleep_for(5ms);
      ++n_runs;
    });
    ++n_jobs;
  }
  EXPECT_EQ(pool.n_at_work(), 1u);
  while (pool.n_at_work() == 1) {
    pool.run(2, [&](uint32_t, uint32_t) { ++n_runs; });
    ++n_jobs;
  }
  EXPECT_EQ(pool.n_at_work(), 2u);
  EXPECT_EQ(n_runs, 2 * n_jobs);
}

TEST(ThreadPool, EndsWhileItsThreadsSleepOrSpin) {
  for (int turn = 0; turn < 50; ++turn) {
    ThreadPool pool(5);
    if (turn % 2 == 0) pool.run(5, [](uint32_t, uint32_t) {});
    if (turn % 5 == 0) std::this_thread::sleep_for(2ms);
  }
}

TEST(ThreadPool, PoolsLiveSideBySide) {
  ThreadPool outer(2);
  std::vector<int> runs(2 * 3, 0);
  outer.run(2, [&](uint32_t, uint32_t part) {
    ThreadPool inner(3);
    inner.run(3, [&](uint32_t, uint32_t inner_part) { ++runs[part * 3 + inner_part]; });
  });
  EXPECT_EQ(runs, std::vector<int>(6, 1));
}

TEST(ThreadPool, WorkersRoundToNearest) {
  std::fesetround(FE_UPWARD);
  ThreadPool pool(2);
  std::vector<int> modes(2);
  std::latch both_here(2);
  pool.run(2, [&](uint32_t thread, uint32_t) {
    both_here.arrive_and_wait();
    modes[thread] = std::fegetround();
  });
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(modes[1], FE_TONEAREST);
}

}  // namespace
}  // namespace plumbline::test
