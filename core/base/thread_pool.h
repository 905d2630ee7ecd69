// thread_pool.h: the host's threads. Plugins never start any.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

namespace plumbline {

/// A fixed set of threads that work off the parts of one job at a time; the caller is thread 0.
///
/// A part belongs to whoever claims it first, so a thread that does not run delays no part but the
/// one it holds. Workers spin between jobs, since the ops of one token follow each other within
/// microseconds, and then sleep. Where other processes take the processors, threads in lockstep
/// wait for each other more than they work: workers are then sent to sleep and tried again later.
class ThreadPool {
 public:
  /// n_threads >= 1, the caller included. Throws std::system_error if the system does not give so
  /// many.
  explicit ThreadPool(uint32_t n_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  uint32_t n_threads() const { return static_cast<uint32_t>(workers_.size()) + 1; }
  /// Threads that take part in jobs at present, the caller included. [one-at-a-time]
  uint32_t n_at_work() const { return n_at_work_.load(std::memory_order_relaxed); }

  /// Calls job(thread, part) once for every part in [0, n_parts), n_parts < 2^31, with the index of
  /// the thread that runs it, and returns when all are done. A thread gets its parts in rising
  /// order. Allocates nothing. The job must not throw. [one-at-a-time]
  template <typename Job>
  void run(uint32_t n_parts, Job&& job) {
    using Function = std::remove_reference_t<Job>;
    run_raw(
        n_parts,
        [](void* context, uint32_t thread, uint32_t part) {
          (*static_cast<Function*>(context))(thread, part);
        },
        const_cast<void*>(static_cast<const void*>(&job)));
  }

 private:
  using Clock = std::chrono::steady_clock;
  using RawJob = void (*)(void* context, uint32_t thread, uint32_t part);

  void run_raw(uint32_t n_parts, RawJob job, void* context);
  uint32_t take_parts(uint32_t thread);
  void wait_for_all_but(uint32_t n_own);
  void after_stall(Clock::time_point start);
  void try_more_threads();
  void work(uint32_t thread);
  uint32_t wait_for_job(uint32_t thread, uint32_t seen) const;
  void stop_all();

  // Of the newest job. Whoever claims a part may read these until it has finished the part.
  RawJob function_ = nullptr;
  void* context_ = nullptr;
  uint32_t n_parts_ = 0;

  // On cache lines of their own: what claiming, finishing and waiting threads touch.
  static constexpr size_t kLine = 64;
  alignas(kLine) std::atomic<uint32_t> job_{0};  // number of the newest job
  std::atomic<int32_t> n_unclaimed_{0};  // parts; below 0 once threads have asked in vain
  alignas(kLine) std::atomic<uint32_t> n_unfinished_{0};  // parts, those of the caller always
  alignas(kLine) std::atomic<uint32_t> n_at_work_;
  std::atomic<bool> stop_{false};

  // The caller's, to tell when threads in lockstep do not pay.
  Clock::time_point last_stall_{};  // its end, or when the workers were tried again
  Clock::time_point try_again_{};
  Clock::duration respite_{};

  std::vector<std::thread> workers_;
};

/// Threads that a pool can make use of: the processors this process may run on. More would only
/// take time from each other.
uint32_t useful_thread_count();

}  // namespace plumbline
