// Scripts of conversations. Oracle: the forms that core/doc/diff.md lists.
#include <gmock/gmock.h>

#include "core/diff/conversation_play.h"

namespace plumbline::diff {
namespace {

using pipeline::OrderedJson;
using Kind = ScriptEvent::Kind;

TEST(ConversationScript, HasEachEvent) {
  const auto events = parse_events(OrderedJson::parse(R"([
    {"system": "Be brief."}, {"ask": "A?", "cancel_after": 3}, {"edit": 1, "text": "B?"},
    {"retry": true}, {"undo": true},
    {"role": "user", "content": "C?"}, {"role": "assistant", "content": "left out"}])"));
  ASSERT_TRUE(events) << events.error().message;
  std::vector<Kind> kinds;
  for (const ScriptEvent& event : *events) kinds.push_back(event.kind);
  EXPECT_THAT(kinds, testing::ElementsAre(Kind::kSystem, Kind::kAsk, Kind::kEdit, Kind::kRetry,
                                          Kind::kUndo, Kind::kAsk));
  EXPECT_EQ((*events)[1].cancel_after, 3u);
  EXPECT_EQ((*events)[2].index, 1u);
  EXPECT_EQ((*events)[5].text, "C?");
}

TEST(ConversationScript, RefusesWhatIsNoEvent) {
  for (const char* text :
       {"{}", "[]", "[1]", R"([{"say": "A"}])", R"([{"ask": 1}])", R"([{"edit": -1, "text": "A"}])",
        R"([{"edit": 1}])", R"([{"role": "tool", "content": "A"}])", R"([{"role": 1}])",
        R"([{"undo": true, "cancel_after": 1}])", R"([{"undo": false}])", R"([{"retry": 1}])",
        R"([{"ask": "A", "cancle_after": 1}])", R"([{"ask": "A", "cancel_after": "now"}])"}) {
    const auto events = parse_events(OrderedJson::parse(text));
    ASSERT_FALSE(events) << text;
    EXPECT_EQ(events.error().code, PLUMB_INVALID_ARGUMENT) << text;
    EXPECT_THAT(events.error().message, testing::HasSubstr("expected")) << text;
  }
}

// Counted as they stand in the file.
TEST(ConversationScript, NamesTheEventThatIsWrong) {
  const auto events = parse_events(OrderedJson::parse(
      R"([{"ask": "A?"}, {"role": "assistant", "content": "left out"}, {"say": "B"}])"));
  ASSERT_FALSE(events);
  EXPECT_TRUE(events.error().message.starts_with("event 3: ")) << events.error().message;
}

}  // namespace
}  // namespace plumbline::diff
