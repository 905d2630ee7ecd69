// Every state with every event. Oracle: the table in core/doc/conversation.md.
#include "core/conversation/state_machine.h"

#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <regex>

namespace plumbline::test {
namespace {

using conversation::Event;
using conversation::State;

constexpr State kStates[] = {State::kIdle,     State::kPrefill,   State::kThinking, State::kDecode,
                             State::kToolCall, State::kCancelled, State::kCompleted};
constexpr Event kEvents[] = {Event::kAsk,     Event::kThought, Event::kText, Event::kToolCall,
                             Event::kEnd,     Event::kCancel,  Event::kFail, Event::kToolResults,
                             Event::kAbandon, Event::kSettle};

using Table = std::map<std::pair<std::string, std::string>, std::string>;

Table documented() {
  Table table;
  std::ifstream in(PLUMB_SOURCE_DIR "/core/doc/conversation.md");
  const std::regex row(R"(\| ([a-z_]+) \| ([a-z_]+) \| ([a-z_]+) \|)");
  for (std::string line; std::getline(in, line);) {
    std::smatch match;
    if (std::regex_match(line, match, row) && match[1] != "state")
      table[{match[1], match[2]}] = match[3];
  }
  return table;
}

TEST(StateMachine, HasTheDocumentedTransitionsAndNoOthers) {
  const Table table = documented();
  EXPECT_EQ(table.size(), 26u);
  size_t n_found = 0;
  for (const State state : kStates) {
    for (const Event event : kEvents) {
      const auto row = table.find({std::string(conversation::state_name(state)),
                                   std::string(conversation::event_name(event))});
      const auto next = conversation::next_state(state, event);
      ASSERT_EQ(next.has_value(), row != table.end())
          << conversation::state_name(state) << " " << conversation::event_name(event);
      if (!next) {
        EXPECT_EQ(next.error().code, PLUMB_INVALID_ARGUMENT);
        continue;
      }
      ++n_found;
      EXPECT_EQ(conversation::state_name(*next), row->second);
    }
  }
  EXPECT_EQ(n_found, table.size());
}

TEST(StateMachine, StaysWhereItIsAfterAnEventThatMayNotHappen) {
  conversation::StateMachine machine;
  ASSERT_TRUE(machine.on(Event::kAsk));
  const auto refused = machine.on(Event::kAsk);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "the conversation is in state prefill: ask cannot happen, expected one of thought, "
            "text, tool_call, end, cancel, fail");
  EXPECT_EQ(machine.state(), State::kPrefill);
  EXPECT_THAT(machine.take_passed(), testing::ElementsAre(State::kIdle, State::kPrefill));
}

}  // namespace
}  // namespace plumbline::test
