#include "core/conversation/gate.h"

#include <string>

namespace plumbline::conversation {

Result<Gate::Pass> Gate::enter() {
  std::unique_lock lock(mutex_);
  if (is_busy_ && inside_ == std::this_thread::get_id()) {
    return Error{PLUMB_INVALID_ARGUMENT,
                 "a request out of the middle of an answer: expected it when the answer has ended"};
  }
  if (is_busy_ || !waiting_.empty()) {
    if (when_busy_ == WhenBusy::kReject) {
      return Error{
          PLUMB_INVALID_ARGUMENT,
          "the conversation is busy with another request, and context.when_busy is reject"};
    }
    if (waiting_.size() >= kQueueMax) {
      return Error{PLUMB_INVALID_ARGUMENT, "the conversation is busy and " +
                                               std::to_string(kQueueMax) +
                                               " requests wait already: no more are queued"};
    }
    const uint64_t ticket = n_tickets_++;
    waiting_.push_back(ticket);
    turn_.wait(lock, [&] { return !is_busy_ && waiting_.front() == ticket; });
    waiting_.pop_front();
  }
  is_busy_ = true;
  inside_ = std::this_thread::get_id();
  const uint64_t epoch = epoch_.load(std::memory_order_relaxed) + 1;
  flag(epoch).store(false, std::memory_order_relaxed);
  epoch_.store(epoch, std::memory_order_release);
  return Pass(*this, epoch);
}

void Gate::leave() {
  const std::lock_guard lock(mutex_);
  is_busy_ = false;
  inside_ = {};
  turn_.notify_all();
}

size_t Gate::n_waiting() {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

void Gate::cancel() noexcept {
  flag(epoch_.load(std::memory_order_acquire)).store(true, std::memory_order_release);
}

}  // namespace plumbline::conversation
