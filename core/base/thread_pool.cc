#include "core/base/thread_pool.h"

#include <algorithm>
#include <string>
#include <system_error>

#include "core/base/float_environment.h"
#include "core/base/os/processor.h"

namespace plumbline {
namespace {

using namespace std::chrono_literals;

// A worker spins so long before it sleeps: longer than what lies between two tokens, since waking
// takes tens of microseconds.
constexpr auto kSpin = 1ms;
// The caller spins so many times, about 50 us, before a part counts as held by a thread that does
// not run.
constexpr int kSpinsBeforeStall = 2000;
constexpr int kSpinsPerLook = 32;  // at the clock: about 1 us
// More than this between two looks, and the processor was somebody else's.
constexpr auto kAway = 200us;
// After a stall that did not pay the workers sleep so many times as long: trying them again then
// costs at most 1/16.
constexpr int kRespite = 16;
constexpr auto kRespiteMax = 100ms;

}  // namespace

ThreadPool::ThreadPool(uint32_t n_threads) : n_at_work_(n_threads) {
  try {
    for (uint32_t thread = 1; thread < n_threads; ++thread) {
      workers_.emplace_back([this, thread] { work(thread); });
    }
  } catch (const std::system_error& error) {
    stop_all();
    throw std::system_error(error.code(), "thread " + std::to_string(this->n_threads() + 1) +
                                              " of " + std::to_string(n_threads) +
                                              " cannot be started (kernels.threads)");
  }
}

ThreadPool::~ThreadPool() {
  stop_all();
}

void ThreadPool::stop_all() {
  stop_.store(true);
  job_.fetch_add(1);
  job_.notify_all();
  n_at_work_.store(UINT32_MAX);  // who was sent to sleep must see it too
  n_at_work_.notify_all();
  for (auto& worker : workers_) worker.join();
}

// ---- The caller

void ThreadPool::run_raw(uint32_t n_parts, RawJob function, void* context) {
  if (n_at_work() != n_threads()) try_more_threads();
  if (n_at_work() == 1 || n_parts == 1) {
    for (uint32_t part = 0; part < n_parts; ++part) function(context, 0, part);
    return;
  }
  function_ = function;
  context_ = context;
  n_parts_ = n_parts;
  n_unfinished_.store(n_parts, std::memory_order_relaxed);
  // Whoever claims a part sees all that stands above, late comers from the job before included.
  n_unclaimed_.store(static_cast<int32_t>(n_parts), std::memory_order_release);
  job_.fetch_add(1);
  job_.notify_all();
  wait_for_all_but(take_parts(0));
}

void ThreadPool::wait_for_all_but(uint32_t n_own) {
  // What the caller did itself is not counted down.
  const auto is_done = [&] { return n_unfinished_.load(std::memory_order_acquire) == n_own; };
  for (int spin = 0; spin < kSpinsBeforeStall; ++spin) {
    if (is_done()) return;
    os::relax();
  }
  const Clock::time_point start = Clock::now();
  while (!is_done()) std::this_thread::yield();
  after_stall(start);
}

void ThreadPool::after_stall(Clock::time_point start) {
  const Clock::time_point end = Clock::now();
  const auto stalled = end - start;
  const auto worked = start - last_stall_;
  last_stall_ = end;
  // Two threads that stall for a third of the time are no faster than one where memory is the
  // limit.
  if (2 * stalled < worked) return;
  const uint32_t n = n_at_work();
  n_at_work_.store(n - (n + 3) / 4, std::memory_order_relaxed);
  respite_ = std::min<Clock::duration>(kRespite * stalled, kRespiteMax);
  try_again_ = end + respite_;
}

void ThreadPool::try_more_threads() {
  const Clock::time_point now = Clock::now();
  if (now < try_again_) return;
  const uint32_t n = n_at_work();
  n_at_work_.store(std::min(n + n / 4 + 1, n_threads()));
  n_at_work_.notify_all();
  last_stall_ = now;
  try_again_ = now + respite_;
}

// ---- All threads

uint32_t ThreadPool::take_parts(uint32_t thread) {
  uint32_t n_taken = 0;
  int32_t left;
  while ((left = n_unclaimed_.fetch_sub(1, std::memory_order_acq_rel)) > 0) {
    function_(context_, thread, n_parts_ - static_cast<uint32_t>(left));
    ++n_taken;
  }
  return n_taken;
}

// ---- The workers

uint32_t ThreadPool::wait_for_job(uint32_t thread, uint32_t seen) const {
  Clock::time_point look = Clock::now();
  const Clock::time_point end = look + kSpin;
  while (look < end && thread < n_at_work()) {
    for (int spin = 0; spin < kSpinsPerLook; ++spin) {
      const uint32_t job = job_.load(std::memory_order_acquire);
      if (job != seen) return job;
      os::relax();
    }
    const Clock::time_point before = look;
    look = Clock::now();
    if (look - before > kAway) break;
  }
  for (uint32_t n = n_at_work_.load(); thread >= n; n = n_at_work_.load()) n_at_work_.wait(n);
  job_.wait(seen);
  return job_.load();
}

void ThreadPool::work(uint32_t thread) {
  reset_float_environment();
  uint32_t seen = 0;
  while (true) {
    seen = wait_for_job(thread, seen);
    if (stop_.load()) return;
    const uint32_t n_taken = take_parts(thread);
    if (n_taken != 0) n_unfinished_.fetch_sub(n_taken, std::memory_order_release);
  }
}

uint32_t useful_thread_count() {
  return std::max(1u, os::n_processors());
}

}  // namespace plumbline
