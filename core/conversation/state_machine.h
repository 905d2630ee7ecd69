// state_machine.h: what a conversation is doing, and what may happen next.
//
// One table of transitions, which core/doc/conversation.md draws: whatever is not a row of it is an
// error.
#pragma once

#include <atomic>
#include <string_view>
#include <vector>

#include "plumb/sdk/result.h"

namespace plumbline::conversation {

enum class State { kIdle, kPrefill, kThinking, kDecode, kToolCall, kCancelled, kCompleted };
enum class Event {
  kAsk,  // messages are to be answered
  kThought,  // the model thinks
  kText,  // the model answers
  kToolCall,  // what was said ends with calls of tools
  kEnd,  // the answer has ended
  kCancel,
  kFail,
  kToolResults,  // messages with the results of all calls
  kAbandon,  // nobody will give them
  kSettle,  // the history is written
};

std::string_view state_name(State state);
std::string_view event_name(Event event);

/// Where an event leads. Fails INVALID_ARGUMENT: it may not happen in that state; names what may.
Result<State> next_state(State state, Event event);

class StateMachine {
 public:
  /// [any-thread]
  State state() const { return state_.load(std::memory_order_acquire); }
  /// Fails as next_state does; the state is then as it was.
  Result<void> on(Event event);
  /// Abandons results that are waited for; else nothing. [any-thread, and from a signal handler]
  void abandon() noexcept;
  /// Whatever was half done is over: it waits for results, or is idle.
  void rest(bool waits) noexcept;
  /// The states since the last call, the present one first.
  std::vector<State> take_passed();

 private:
  std::atomic<State> state_{State::kIdle};
  std::vector<State> passed_;
};

}  // namespace plumbline::conversation
