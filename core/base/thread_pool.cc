#include "core/base/thread_pool.h"

#include <algorithm>
#include <string>
#include <system_error>

#include "core/base/float_environment.h"
#include "core/base/os/processor.h"

namespace plumbline {
namespace {

// About 50 us of spinning before a thread sleeps or yields: longer than the gaps between the ops of
// a token, far shorter than the gap between two generations.
constexpr int kSpins = 2000;

}  // namespace

ThreadPool::ThreadPool(uint32_t n_threads) {
  try {
    for (uint32_t part = 1; part < n_threads; ++part) {
      workers_.emplace_back([this, part] { work(part); });
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
  {
    std::lock_guard lock(mutex_);
    stop_.store(true);
  }
  wake_.notify_all();
  for (auto& worker : workers_) worker.join();
}

void ThreadPool::run_raw(RawJob function, void* context) {
  if (workers_.empty()) {
    function(context, 0);
    return;
  }
  function_ = function;
  context_ = context;
  n_running_.store(static_cast<uint32_t>(workers_.size()), std::memory_order_relaxed);
  job_.fetch_add(1);
  if (n_asleep_.load() != 0) {
    std::lock_guard lock(mutex_);
    wake_.notify_all();
  }
  function(context, 0);
  for (int spin = 0; n_running_.load(std::memory_order_acquire) != 0; ++spin) {
    // On an overloaded machine a worker may not be running at all: give it this processor.
    if (spin < kSpins) {
      os::relax();
    } else {
      std::this_thread::yield();
    }
  }
}

uint64_t ThreadPool::wait_for_job(uint64_t seen) {
  for (int spin = 0; spin < kSpins; ++spin) {
    const uint64_t job = job_.load(std::memory_order_acquire);
    if (job != seen || stop_.load(std::memory_order_relaxed)) return job;
    os::relax();
  }
  std::unique_lock lock(mutex_);
  // Counted before job_ is read again, so that run_raw sees either the new count or a waiter that
  // saw the job.
  n_asleep_.fetch_add(1);
  wake_.wait(lock, [&] { return job_.load() != seen || stop_.load(); });
  n_asleep_.fetch_sub(1);
  return job_.load();
}

void ThreadPool::work(uint32_t part) {
  reset_float_environment();
  uint64_t seen = 0;
  while (true) {
    const uint64_t job = wait_for_job(seen);
    if (job == seen) return;  // stopped
    seen = job;
    function_(context_, part);
    n_running_.fetch_sub(1, std::memory_order_release);
  }
}

uint32_t default_thread_count() {
  return std::max(1u, os::n_processors());
}

}  // namespace plumbline
