// gate.h: one request at a time; the others wait their turn or are turned away.
//
// Every request that comes in gets an epoch. Cancelling ends the epoch of the one inside: whatever
// it still produces belongs to the past.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>

#include "core/config/pipeline_config.h"
#include "plumb/sdk/result.h"

namespace plumbline::conversation {

using config::WhenBusy;

class Gate {
 public:
  /// Requests that wait; more are turned away.
  static constexpr size_t kQueueMax = 16;

  explicit Gate(WhenBusy when_busy) : when_busy_(when_busy) {}

  /// Leave to be inside, given back when it goes. Move-only.
  class Pass {
   public:
    Pass(Pass&& other) noexcept : gate_(other.gate_), epoch_(other.epoch_) {
      other.gate_ = nullptr;
    }
    Pass& operator=(Pass&&) = delete;
    ~Pass() {
      if (gate_ != nullptr) gate_->leave();
    }
    uint64_t epoch() const { return epoch_; }
    /// For whoever looks between two steps whether to go on.
    const std::atomic<bool>& cancel() const { return gate_->flag(epoch_); }
    bool is_cancelled() const { return cancel().load(std::memory_order_acquire); }

   private:
    friend class Gate;
    Pass(Gate& gate, uint64_t epoch) : gate_(&gate), epoch_(epoch) {}
    Gate* gate_;
    uint64_t epoch_;
  };

  /// First come, first served. Fails INVALID_ARGUMENT: busy and the rule is to reject, the queue is
  /// full, or the caller is inside already and would wait for itself. [any-thread]
  Result<Pass> enter();
  /// Cancels the request that is inside; nothing if none is. One that comes in later is not hit.
  /// [any-thread, and from a signal handler]
  void cancel() noexcept;
  /// [any-thread]
  size_t n_waiting();

 private:
  // A flag of its own for each of the last epochs: a late cancel hits one that is over.
  static constexpr uint64_t kFlags = 64;
  std::atomic<bool>& flag(uint64_t epoch) { return flags_[epoch % kFlags]; }
  void leave();

  const WhenBusy when_busy_;
  std::mutex mutex_;
  std::condition_variable turn_;
  std::deque<uint64_t> waiting_;  // tickets
  uint64_t n_tickets_ = 0;
  bool is_busy_ = false;
  std::thread::id inside_;
  std::atomic<uint64_t> epoch_{0};  // of the request inside or the last one
  std::array<std::atomic<bool>, kFlags> flags_{};
  static_assert(std::atomic<bool>::is_always_lock_free &&
                    std::atomic<uint64_t>::is_always_lock_free,
                "a signal handler may not wait for a lock");
};

}  // namespace plumbline::conversation
