// What a conversation keeps of its turns. Scripted picks say what the model answers; the oracle of
// the history is what was put in and delivered.
#include "tests/unit/conversation/tiny_talk.h"

namespace plumbline::test {
namespace {

using conversation::State;
using pipeline::StopReason;

TEST(Turns, AnswersAreHistory) {
  TinyTalk talk;
  talk.will_say("Mara lives in the old house.<|im_end|>");
  std::string streamed;
  const auto first =
      talk->ask("Who is Mara?", {.on_text = [&](std::string_view text) { streamed += text; }});
  PLUMB_ASSERT_OK(first);
  EXPECT_EQ(first->text, "Mara lives in the old house.");
  EXPECT_EQ(streamed, first->text);
  EXPECT_EQ(first->stop_reason, StopReason::kEndToken);
  EXPECT_EQ(first->n_reused_rows, 0u);
  EXPECT_EQ(first->states, (std::vector{State::kIdle, State::kPrefill, State::kDecode,
                                        State::kCompleted, State::kIdle}));

  talk.will_say("Yes.<|im_end|>");
  const auto second = talk->ask("Is it blue?", {});
  PLUMB_ASSERT_OK(second);
  // All of the first turn but its end token, which was picked and never run.
  EXPECT_EQ(second->n_reused_rows, first->prompt_ids.size() + first->ids.size() - 1);
  EXPECT_EQ(second->n_spoken, 1u);
  EXPECT_EQ(talk.messages(),
            OrderedJson({message("user", "Who is Mara?"),
                         message("assistant", "Mara lives in the old house."),
                         message("user", "Is it blue?"), message("assistant", "Yes.")}));
}

}  // namespace
}  // namespace plumbline::test
