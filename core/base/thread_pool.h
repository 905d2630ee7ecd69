// thread_pool.h: the host's threads. Plugins never start any.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace plumbline {

/// A fixed set of threads that run the parts of one job at a time; the caller is thread 0.
/// Workers spin for a moment between jobs, since the ops of one token follow each other within
/// microseconds, and then sleep. Each worker starts with the default floating-point state.
class ThreadPool {
 public:
  /// n_threads >= 1, the caller included. Throws std::system_error if the system does not give so
  /// many.
  explicit ThreadPool(uint32_t n_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  uint32_t n_threads() const { return static_cast<uint32_t>(workers_.size()) + 1; }

  /// Calls job(part) for every part in [0, n_threads), each on its own thread, and returns when all
  /// are done. Allocates nothing. The job must not throw. [one-at-a-time]
  template <typename Job>
  void run(Job&& job) {
    using Function = std::remove_reference_t<Job>;
    run_raw([](void* context, uint32_t part) { (*static_cast<Function*>(context))(part); },
            const_cast<void*>(static_cast<const void*>(&job)));
  }

 private:
  using RawJob = void (*)(void* context, uint32_t part);
  void run_raw(RawJob job, void* context);
  void work(uint32_t part);
  void stop_all();
  uint64_t wait_for_job(uint64_t seen);

  RawJob function_ = nullptr;
  void* context_ = nullptr;
  std::atomic<uint64_t> job_{0};  // number of the newest job
  std::atomic<uint32_t> n_running_{0};  // workers that have not finished the newest job
  std::atomic<uint32_t> n_asleep_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::thread> workers_;
};

/// Threads to use when the config says auto: the processors this process may run on.
uint32_t default_thread_count();

}  // namespace plumbline
