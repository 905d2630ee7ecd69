// What stays of an answer that was cancelled, and that nothing of it arrives late. Oracle: what the
// callback had taken.
#include <atomic>
#include <thread>

#include "tests/unit/conversation/tiny_talk.h"

namespace plumbline::test {
namespace {

using conversation::State;
using pipeline::StopReason;
using testing::HasSubstr;

class Cancel : public testing::Test {
 protected:
  // Cancels from the callback that gets the n-th piece of text.
  Result<Answer> ask_and_cancel(const std::string& script, int at_piece) {
    talk_.will_say(script);
    int n_pieces = 0;
    return talk_->ask("Tell me more.", {.on_text = [&, at_piece](std::string_view text) {
                        EXPECT_LT(n_pieces, at_piece) << "late: " << text;
                        delivered_ += text;
                        if (++n_pieces == at_piece) talk_->cancel();
                      }});
  }

  TinyTalk talk_;
  std::string delivered_;
};

TEST_F(Cancel, KeepsWhatWasDelivered) {
  const auto answer = ask_and_cancel("Mara lives in the old house by the sea.<|im_end|>", 4);
  PLUMB_ASSERT_OK(answer);
  EXPECT_EQ(answer->stop_reason, StopReason::kCancelled);
  EXPECT_EQ(answer->text, delivered_);
  EXPECT_FALSE(delivered_.empty());
  EXPECT_EQ(answer->message, message("assistant", delivered_));
  EXPECT_EQ(talk_.messages().back(), answer->message);
  EXPECT_EQ(answer->states, (std::vector{State::kIdle, State::kPrefill, State::kDecode,
                                         State::kCancelled, State::kIdle}));
  const std::vector<int32_t> script = talk_.ids("Mara lives in the old house by the sea.");
  EXPECT_EQ(answer->ids, std::vector(script.begin(), script.begin() + 4));
}

TEST_F(Cancel, DropsTheBeginningOfACharacter) {
  // The vocabulary has bytes: the letter takes two ids, of which the second never came.
  const std::vector<int32_t> script = talk_.ids("the \xC3\xA9");
  talk_.will_say(script);
  const auto answer = talk_->ask("Tell me more.", {.on_pick = [&, n = 0](const auto&) mutable {
                                   if (++n == static_cast<int>(script.size()) - 1) talk_->cancel();
                                 }});
  PLUMB_ASSERT_OK(answer);
  EXPECT_EQ(answer->stop_reason, StopReason::kCancelled);
  EXPECT_TRUE(std::string_view("the ").starts_with(answer->text)) << answer->text;
  EXPECT_GT(answer->n_dropped_ids, 0u);
  EXPECT_LE(talk_.decoder().n_past(), answer->prompt_ids.size() + answer->ids.size());
}

TEST_F(Cancel, BeforeTheFirstWordLeavesAnEmptyAnswer) {
  talk_.will_say("Mara.<|im_end|>");
  bool has_begun = false;
  const auto answer =
      talk_->ask("Tell me more.", {.on_text = [](std::string_view) { FAIL() << "late"; },
                                   .on_state =
                                       [&](State state) {
                                         if (state == State::kPrefill) talk_->cancel();
                                         has_begun |= state == State::kDecode;
                                       }});
  PLUMB_ASSERT_OK(answer);
  EXPECT_FALSE(has_begun);
  EXPECT_EQ(answer->stop_reason, StopReason::kCancelled);
  EXPECT_TRUE(answer->ids.empty());
  EXPECT_EQ(talk_.messages().back(), message("assistant", ""));
  // It can be made again.
  const auto retried = talk_->retry({});
  PLUMB_ASSERT_OK(retried);
  EXPECT_EQ(retried->text, "Mara.");
}

TEST_F(Cancel, InThePrefillLeavesTheRowsBeforeIt) {
  talk_.will_say("Mara lives by the sea.<|im_end|>");
  PLUMB_ASSERT_OK(talk_->ask("Where?", {}));
  PLUMB_ASSERT_OK(talk_->ask("And where else?", {}));
  const auto cancelled = talk_->ask("Tell me more.", {.on_state = [&](State state) {
                                      if (state == State::kPrefill) talk_->cancel();
                                    }});
  PLUMB_ASSERT_OK(cancelled);
  ASSERT_EQ(cancelled->stop_reason, StopReason::kCancelled);
  ASSERT_GT(cancelled->n_reused_rows, 0u);
  const auto next = talk_->ask("Who?", {});
  PLUMB_ASSERT_OK(next);
  EXPECT_GE(next->n_reused_rows, cancelled->n_reused_rows);
}

TEST_F(Cancel, IsOverWithTheAnswer) {
  talk_->cancel();  // nothing is being answered
  talk_.will_say("Mara.<|im_end|>");
  PLUMB_ASSERT_OK(talk_->ask("Who?", {}));
  talk_->cancel();
  const auto answer = talk_->ask("Who?", {});
  PLUMB_ASSERT_OK(answer);
  EXPECT_EQ(answer->stop_reason, StopReason::kEndToken);
}

TEST_F(Cancel, OfAnAnswerThatWasBegunKeepsItsBeginning) {
  talk_.will_say(" house by the sea.<|im_end|>");
  PLUMB_ASSERT_OK(
      talk_->set_messages({message("user", "Where?"), message("assistant", "The old")}));
  int n_pieces = 0;
  const auto answer =
      talk_->ask(std::vector{message("user", "Go on."), message("assistant", "The old")},
                 {.on_text = [&](std::string_view text) {
                   delivered_ += text;
                   if (++n_pieces == 2) talk_->cancel();
                 }});
  PLUMB_ASSERT_OK(answer);
  EXPECT_EQ(talk_.messages().back(), message("assistant", "The old" + delivered_));
  const auto retried = talk_->retry({});
  PLUMB_ASSERT_OK(retried);
  EXPECT_EQ(talk_.messages().back(), message("assistant", "The old house by the sea."));
}

// Threads that ask, cancel and look, all at once. What they leave is a conversation like any other.
TEST(Races, LeaveAWholeConversation) {
  TinyTalk talk(
      {"context.length=512", "context.reserve_output=16"},
      [](conversation::Options& options) { options.when_busy = config::WhenBusy::kQueue; });
  constexpr int kAskers = 3, kEach = 6;
  std::atomic<int> n_answers{0};
  std::atomic<bool> is_over{false};
  std::vector<std::thread> threads;
  for (int asker = 0; asker < kAskers; ++asker) {
    threads.emplace_back([&, asker] {
      for (int i = 0; i < kEach; ++i) {
        std::string streamed;
        uint64_t epoch = 0;
        const std::string question = "Who is " + std::to_string(asker) + "?";
        const auto answer = talk->ask(
            question,
            {.max_tokens = 12, .on_text = [&](std::string_view text) { streamed += text; }});
        PLUMB_ASSERT_OK(answer);
        EXPECT_GT(answer->epoch, epoch);
        epoch = answer->epoch;
        EXPECT_TRUE(streamed.starts_with(answer->text)) << streamed << "\n" << answer->text;
        ++n_answers;
      }
    });
  }
  threads.emplace_back([&] {
    while (!is_over) {
      talk->cancel();
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
  });
  threads.emplace_back([&] {
    while (!is_over) {
      static_cast<void>(talk->state());
      const auto messages = talk->messages();
      PLUMB_ASSERT_OK(messages);
      EXPECT_EQ(messages->size() % 2, 0u) << "seen in the middle of a turn";
    }
  });
  for (int asker = 0; asker < kAskers; ++asker) threads[static_cast<size_t>(asker)].join();
  is_over = true;
  for (size_t at = kAskers; at < threads.size(); ++at) threads[at].join();
  EXPECT_EQ(n_answers, kAskers * kEach);
  const OrderedJson messages = talk.messages();
  for (size_t at = 0; at < messages.size(); ++at)
    EXPECT_EQ(messages[at]["role"], at % 2 == 0 ? "user" : "assistant");
}

TEST(Races, TurnASecondRequestAwayWhereTheConfigSaysSo) {
  TinyTalk talk({"context.when_busy=reject"});
  talk.will_say("Mara.<|im_end|>");
  Result<Answer> second = Error{};
  const auto first = talk->ask("Who?", {.on_text = [&](std::string_view) {
                                 std::thread([&] { second = talk->ask("And?", {}); }).join();
                               }});
  PLUMB_ASSERT_OK(first);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("busy"));
  EXPECT_EQ(talk.messages().size(), 2u);
}

}  // namespace
}  // namespace plumbline::test
