// Thinking and calls of tools. Scripted picks say what the model writes; the oracle is what the
// script says between its tags.
#include <stdexcept>
#include <thread>

#include "tests/support/temporary_folder.h"
#include "tests/unit/conversation/broken_parts.h"
#include "tests/unit/conversation/tiny_talk.h"

namespace plumbline::test {
namespace {

using conversation::State;
using pipeline::StopReason;
using testing::HasSubstr;

// Past thoughts are dropped, as by the templates of public models.
constexpr const char* kTemplate =
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}"
    "{% for c in m.tool_calls | default([]) %}<tool_call>{{ c.function | tojson }}</tool_call>"
    "{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

constexpr const char* kCall =
    R"(<tool_call>{"name": "find", "arguments": {"who": "Mara"}}</tool_call>)";

class Tools : public testing::Test {
 protected:
  Tools()
      : talk_(
            {"template.path=" + folder_.write("t.jinja", kTemplate), "template.undefined=hf",
             "parser.plugin=plumb.parsers.tags", "context.length=512", "generation.max_tokens=200",
             "kernels.backend=test.broken", "tokenizer.plugin=test.broken"},
            {}, host_with_broken_parts()) {}
  void TearDown() override { break_part(Break::kNothing, 0); }
  // Leaves the conversation waiting for a result.
  void call_a_tool() {
    talk_.will_say("I look." + std::string(kCall) + "<|im_end|>");
    const auto answer = talk_->ask("Where is Mara?", {});
    PLUMB_ASSERT_OK(answer);
    ASSERT_EQ(talk_->state(), State::kToolCall);
  }
  static std::vector<OrderedJson> result() { return {message("tool", "By the sea.")}; }

  TemporaryFolder folder_;
  TinyTalk talk_;
};

TEST_F(Tools, ThoughtsAreStreamedApartAndLeftToTheTemplate) {
  talk_.will_say("<think>Who was it?</think>Mara.<|im_end|>");
  std::string text, thinking;
  const auto answer =
      talk_->ask("Who is it?", {.on_text = [&](std::string_view more) { text += more; },
                                .on_thinking = [&](std::string_view more) { thinking += more; }});
  PLUMB_ASSERT_OK(answer);
  EXPECT_EQ(text, "Mara.");
  EXPECT_EQ(thinking, "Who was it?");
  EXPECT_EQ(answer->text, text);
  EXPECT_EQ(answer->thinking, thinking);
  EXPECT_EQ(answer->states, (std::vector{State::kIdle, State::kPrefill, State::kThinking,
                                         State::kDecode, State::kCompleted, State::kIdle}));
  EXPECT_EQ(answer->message, (OrderedJson{{"role", "assistant"},
                                          {"content", "Mara."},
                                          {"reasoning_content", "Who was it?"}}));
  talk_.will_say("Yes.<|im_end|>");
  const auto next = talk_->ask("Sure?", {});
  PLUMB_ASSERT_OK(next);
  EXPECT_EQ(*(*talk_.pipeline().tokenizer())->decode(next->prompt_ids),
            "<|im_start|>user\nWho is it?<|im_end|>\n<|im_start|>assistant\nMara.<|im_end|>\n"
            "<|im_start|>user\nSure?<|im_end|>\n<|im_start|>assistant\n");
  // The caches hold the thought, the prompt does not: all behind it runs again.
  EXPECT_LE(next->n_reused_rows, answer->prompt_ids.size());
}

TEST_F(Tools, ACallWaitsForItsResult) {
  talk_.will_say("I look." + std::string(kCall) + "<|im_end|>");
  std::string text;
  const auto answer =
      talk_->ask("Where is Mara?", {.on_text = [&](std::string_view more) { text += more; }});
  PLUMB_ASSERT_OK(answer);
  EXPECT_EQ(answer->stop_reason, StopReason::kToolCall);
  EXPECT_EQ(text, "I look.");
  EXPECT_EQ(talk_->state(), State::kToolCall);
  const OrderedJson calls = OrderedJson::parse(R"([{"id": "call00000", "type": "function",
      "function": {"name": "find", "arguments": {"who": "Mara"}}}])");
  EXPECT_EQ(answer->message["tool_calls"], calls);

  const auto refused = talk_->ask("And Tobin?", {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("expected one of tool_results, abandon"));
  for (const auto& wrong : {std::vector{message("user", "x")},
                            std::vector{message("tool", "x"), message("tool", "y")}}) {
    const auto given = talk_->give(wrong, {});
    ASSERT_FALSE(given);
    EXPECT_THAT(given.error().message, HasSubstr("expected one of role tool for each"));
  }
  talk_.will_say("By the sea.<|im_end|>");
  const auto last = talk_->give(result(), {});
  PLUMB_ASSERT_OK(last);
  EXPECT_EQ(last->text, "By the sea.");
  EXPECT_EQ(last->states, (std::vector{State::kToolCall, State::kPrefill, State::kDecode,
                                       State::kCompleted, State::kIdle}));
  EXPECT_EQ(talk_.messages()[2]["tool_call_id"], "call00000");
  EXPECT_EQ(talk_.messages().size(), 4u);
  EXPECT_FALSE(talk_->give(result(), {}));
}

TEST_F(Tools, ACallCanBeAbandoned) {
  EXPECT_FALSE(talk_->abandon());
  call_a_tool();
  PLUMB_ASSERT_OK(talk_->abandon());
  EXPECT_EQ(talk_->state(), State::kIdle);
  EXPECT_EQ(talk_.messages().back(), message("assistant", "I look."));
  PLUMB_ASSERT_OK(talk_->ask("Never mind.", {.max_tokens = 3}));
}

TEST_F(Tools, ACallThatIsCancelledIsAbandoned) {
  call_a_tool();
  talk_->cancel();
  EXPECT_EQ(talk_->state(), State::kIdle);
  EXPECT_EQ(talk_.messages().back(), message("assistant", "I look."));
  const auto late = talk_->give(result(), {});
  ASSERT_FALSE(late);
  EXPECT_THAT(late.error().message, HasSubstr("tool_results cannot happen"));
  talk_.will_say("By the sea.<|im_end|>");
  const auto answer = talk_->ask("Never mind.", {});
  PLUMB_ASSERT_OK(answer);
  EXPECT_EQ(talk_.messages().size(), 4u);

  // Out of the callback that is told of it, and what is saved then.
  talk_.will_say("I look." + std::string(kCall) + "<|im_end|>");
  PLUMB_ASSERT_OK(talk_->ask("Where is Mara?", {.on_state = [&](State state) {
                               if (state == State::kToolCall) talk_->cancel();
                             }}));
  EXPECT_EQ(talk_->state(), State::kIdle);
  PLUMB_ASSERT_OK(talk_->save(folder_.path("talk")));
  PLUMB_ASSERT_OK(talk_->restore(folder_.path("talk")));
  EXPECT_EQ(talk_->state(), State::kIdle);
  EXPECT_EQ(talk_.messages().back(), message("assistant", "I look."));
}

// Whichever comes first: the results are taken, or the call is gone.
TEST_F(Tools, ACancelAndResultsAtOnceLeaveAWholeConversation) {
  for (int round = 0; round < 20; ++round) {
    PLUMB_ASSERT_OK(talk_->set_messages({}));
    call_a_tool();
    talk_.will_say("By the sea.<|im_end|>");
    std::thread other([&] { talk_->cancel(); });
    const auto given = talk_->give(result(), {});
    other.join();
    EXPECT_EQ(talk_->state(), State::kIdle);
    const OrderedJson messages = talk_.messages();
    EXPECT_EQ(messages.size(), given ? 4u : 2u);
    EXPECT_EQ(messages[1].contains("tool_calls"), given.has_value());
    EXPECT_FALSE(messages.back().contains("tool_calls"));
  }
}

// Oracle: the conversation without that request.
TEST_F(Tools, ACallbackThatThrowsLeavesACallAsItWas) {
  const auto throws_at = [](State at) {
    return [at](State state) {
      if (state == at) throw std::runtime_error("the callback is gone");
    };
  };
  talk_.will_say("I look." + std::string(kCall) + "<|im_end|>");
  EXPECT_THROW(
      static_cast<void>(talk_->ask("Where is Mara?", {.on_state = throws_at(State::kToolCall)})),
      std::runtime_error);
  EXPECT_EQ(talk_->state(), State::kIdle);
  EXPECT_EQ(talk_.messages(), OrderedJson::array());
  call_a_tool();
  const OrderedJson before = talk_.messages();
  talk_.will_say("By the sea.<|im_end|>");
  for (const State at : {State::kPrefill, State::kDecode, State::kCompleted, State::kIdle}) {
    SCOPED_TRACE(conversation::state_name(at));
    EXPECT_THROW(static_cast<void>(talk_->give(result(), {.on_state = throws_at(at)})),
                 std::runtime_error);
    EXPECT_EQ(talk_->state(), State::kToolCall);
    EXPECT_EQ(talk_.messages(), before);
    EXPECT_THROW(static_cast<void>(talk_->retry({.on_state = throws_at(at)})), std::runtime_error);
    EXPECT_EQ(talk_->state(), State::kToolCall);
  }
  PLUMB_ASSERT_OK(talk_->give(result(), {}));
  EXPECT_EQ(talk_->state(), State::kIdle);
}

TEST_F(Tools, ACallStillWaitsAfterItsResultCouldNotBeRead) {
  call_a_tool();
  const OrderedJson before = talk_.messages();
  break_part(Break::kPieceFails, 0);
  ASSERT_FALSE(talk_->give(result(), {}));
  break_part(Break::kNothing, 0);
  EXPECT_EQ(talk_->state(), State::kToolCall);
  EXPECT_EQ(talk_.messages(), before);
  talk_.will_say("By the sea.<|im_end|>");
  PLUMB_ASSERT_OK(talk_->give(result(), {}));
}

TEST_F(Tools, ACallStillWaitsAfterItWasSavedAndRestored) {
  call_a_tool();
  PLUMB_ASSERT_OK(talk_->save(folder_.path("talk")));
  PLUMB_ASSERT_OK(talk_->cut(0));
  EXPECT_EQ(talk_->state(), State::kIdle);
  PLUMB_ASSERT_OK(talk_->restore(folder_.path("talk")));
  EXPECT_EQ(talk_->state(), State::kToolCall);
  PLUMB_ASSERT_OK(talk_->undo());
  EXPECT_EQ(talk_->state(), State::kIdle);
}

TEST_F(Tools, RetryThrowsACallAway) {
  call_a_tool();
  talk_.will_say("I do not know.<|im_end|>");
  PLUMB_ASSERT_OK(talk_->retry({}));
  EXPECT_EQ(talk_->state(), State::kIdle);
  EXPECT_EQ(talk_.messages().back(), message("assistant", "I do not know."));
}

TEST_F(Tools, ACancelledThoughtIsKeptAsFarAsItCame) {
  talk_.will_say("<think>Who was it?</think>Mara.<|im_end|>");
  std::string thinking;
  int n_pieces = 0;
  const auto answer = talk_->ask("Who is it?", {.on_thinking = [&](std::string_view more) {
                                   thinking += more;
                                   if (++n_pieces == 3) talk_->cancel();
                                 }});
  PLUMB_ASSERT_OK(answer);
  EXPECT_EQ(answer->stop_reason, StopReason::kCancelled);
  EXPECT_EQ(answer->thinking, thinking);
  EXPECT_EQ(answer->text, "");
  EXPECT_EQ(answer->message["reasoning_content"], thinking);
}

TEST_F(Tools, ACancelledAnswerCallsNothing) {
  const std::string before = "I look." + std::string(kCall);
  const size_t n_before = talk_.ids(before).size();
  talk_.will_say(before + " Now.<|im_end|>");
  size_t n_picks = 0;
  const auto answer = talk_->ask("Where is Mara?", {.on_pick = [&](const pipeline::Pick&) {
                                   if (++n_picks == n_before + 1) talk_->cancel();
                                 }});
  PLUMB_ASSERT_OK(answer);
  EXPECT_EQ(answer->stop_reason, StopReason::kCancelled);
  EXPECT_EQ(answer->message, message("assistant", "I look."));
  EXPECT_EQ(talk_->state(), State::kIdle);
}

}  // namespace
}  // namespace plumbline::test
