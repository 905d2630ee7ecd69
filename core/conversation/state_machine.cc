#include "core/conversation/state_machine.h"

#include <string>
#include <utility>

namespace plumbline::conversation {
namespace {

struct Transition {
  State from;
  Event event;
  State to;
};

constexpr Transition kTransitions[] = {
    {State::kIdle, Event::kAsk, State::kPrefill},
    {State::kIdle, Event::kToolCall, State::kToolCall},

    {State::kPrefill, Event::kThought, State::kThinking},
    {State::kPrefill, Event::kText, State::kDecode},
    {State::kPrefill, Event::kToolCall, State::kToolCall},
    {State::kPrefill, Event::kEnd, State::kCompleted},
    {State::kPrefill, Event::kCancel, State::kCancelled},
    {State::kPrefill, Event::kFail, State::kIdle},

    {State::kThinking, Event::kThought, State::kThinking},
    {State::kThinking, Event::kText, State::kDecode},
    {State::kThinking, Event::kToolCall, State::kToolCall},
    {State::kThinking, Event::kEnd, State::kCompleted},
    {State::kThinking, Event::kCancel, State::kCancelled},
    {State::kThinking, Event::kFail, State::kIdle},

    {State::kDecode, Event::kText, State::kDecode},
    {State::kDecode, Event::kThought, State::kThinking},
    {State::kDecode, Event::kToolCall, State::kToolCall},
    {State::kDecode, Event::kEnd, State::kCompleted},
    {State::kDecode, Event::kCancel, State::kCancelled},
    {State::kDecode, Event::kFail, State::kIdle},

    {State::kToolCall, Event::kToolResults, State::kPrefill},
    {State::kToolCall, Event::kAbandon, State::kIdle},

    {State::kCancelled, Event::kSettle, State::kIdle},
    {State::kCancelled, Event::kFail, State::kIdle},
    {State::kCompleted, Event::kSettle, State::kIdle},
    {State::kCompleted, Event::kFail, State::kIdle},
};

std::string allowed(State state) {
  std::string events;
  for (const Transition& row : kTransitions) {
    if (row.from != state) continue;
    events += (events.empty() ? "" : ", ") + std::string(event_name(row.event));
  }
  return events;
}

}  // namespace

std::string_view state_name(State state) {
  switch (state) {
    case State::kIdle:
      return "idle";
    case State::kPrefill:
      return "prefill";
    case State::kThinking:
      return "thinking";
    case State::kDecode:
      return "decode";
    case State::kToolCall:
      return "tool_call";
    case State::kCancelled:
      return "cancelled";
    case State::kCompleted:
      return "completed";
  }
  return "";
}

std::string_view event_name(Event event) {
  switch (event) {
    case Event::kAsk:
      return "ask";
    case Event::kThought:
      return "thought";
    case Event::kText:
      return "text";
    case Event::kToolCall:
      return "tool_call";
    case Event::kEnd:
      return "end";
    case Event::kCancel:
      return "cancel";
    case Event::kFail:
      return "fail";
    case Event::kToolResults:
      return "tool_results";
    case Event::kAbandon:
      return "abandon";
    case Event::kSettle:
      return "settle";
  }
  return "";
}

Result<State> next_state(State state, Event event) {
  for (const Transition& row : kTransitions) {
    if (row.from == state && row.event == event) return row.to;
  }
  return Error{PLUMB_INVALID_ARGUMENT, "the conversation is in state " +
                                           std::string(state_name(state)) + ": " +
                                           std::string(event_name(event)) +
                                           " cannot happen, expected one of " + allowed(state)};
}

Result<void> StateMachine::on(Event event) {
  passed_.reserve(passed_.size() + 2);  // now or not at all
  State before = state();
  State after;
  do {
    PLUMB_ASSIGN(after, next_state(before, event));
  } while (!state_.compare_exchange_weak(before, after, std::memory_order_acq_rel));
  if (passed_.empty()) passed_.push_back(before);
  if (after != before) passed_.push_back(after);
  return {};
}

void StateMachine::abandon() noexcept {
  State waiting = State::kToolCall;
  state_.compare_exchange_strong(waiting, State::kIdle, std::memory_order_acq_rel);
}

void StateMachine::rest(bool waits) noexcept {
  state_.store(waits ? State::kToolCall : State::kIdle, std::memory_order_release);
  passed_.clear();
}

std::vector<State> StateMachine::take_passed() {
  return std::exchange(passed_, {});
}

}  // namespace plumbline::conversation
