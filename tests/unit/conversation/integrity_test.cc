// After whatever was done to a conversation, its caches hold what they would hold had it never been
// otherwise. Oracle: the logits' bits of a new conversation with the same messages.
#include <bit>

#include "tests/unit/conversation/tiny_talk.h"

namespace plumbline::test {
namespace {

using pipeline::StopReason;

constexpr const char* kQuestion = "Who lives by the sea?";

std::vector<OrderedJson> as_list(const OrderedJson& messages) {
  return {messages.begin(), messages.end()};
}

/// The bits of the logits that a question is answered from, row by row.
std::vector<uint32_t> answer_bits(Conversation& talk, const std::vector<OrderedJson>& asked) {
  std::vector<uint32_t> bits;
  conversation::Request request;
  request.max_tokens = 6;
  request.on_logits = [&](std::span<const float> row) {
    for (const float value : row) bits.push_back(std::bit_cast<uint32_t>(value));
  };
  const auto answer = talk.ask(asked, request);
  EXPECT_TRUE(answer) << (answer ? "" : answer.error().message);
  return bits;
}

/// The same of a new conversation with these messages.
std::vector<uint32_t> fresh_bits(const OrderedJson& messages, const std::vector<OrderedJson>& asked,
                                 const std::vector<std::string>& overrides = {}) {
  TinyTalk fresh(overrides);
  const auto set = fresh->set_messages(as_list(messages));
  EXPECT_TRUE(set) << (set ? "" : set.error().message);
  return answer_bits(*fresh, asked);
}

class Integrity : public testing::Test {
 protected:
  // Three turns, whose answers are those of the tokenizer.
  void SetUp() override {
    for (const char* name : {"Mara", "Tobin", "Pip"}) {
      talk_.will_say(std::string(name) + " lives in the old house.<|im_end|>");
      PLUMB_ASSERT_OK(talk_->ask("Where does " + std::string(name) + " live?", {}));
    }
    talk_.will_choose();
  }
  void expect_as_fresh(const OrderedJson& asked = message("user", kQuestion)) {
    const OrderedJson messages = talk_.messages();
    EXPECT_EQ(answer_bits(*talk_, {asked}), fresh_bits(messages, {asked}));
  }
  TinyTalk talk_;
};

TEST_F(Integrity, OfAConversationThatGrew) {
  expect_as_fresh();
}

TEST_F(Integrity, AfterAnEdit) {
  for (const size_t index : {4u, 2u, 0u}) {
    PLUMB_ASSERT_OK(talk_->edit(index, message("user", "And where does Nell live?"), {}));
    EXPECT_EQ(talk_.messages().size(), index + 2);
    expect_as_fresh();
  }
}

TEST_F(Integrity, AfterACut) {
  for (const size_t index : {4u, 2u, 0u}) {
    PLUMB_ASSERT_OK(talk_->cut(index));
    EXPECT_EQ(talk_.messages().size(), index);
    expect_as_fresh();
  }
}

TEST_F(Integrity, AfterAnUndo) {
  const auto undone = talk_->undo();
  PLUMB_ASSERT_OK(undone);
  EXPECT_EQ(*undone, message("user", "Where does Pip live?"));
  EXPECT_EQ(talk_.messages().size(), 4u);
  expect_as_fresh();
}

TEST_F(Integrity, AfterARetry) {
  PLUMB_ASSERT_OK(talk_->retry({}));
  PLUMB_ASSERT_OK(talk_->retry({}));
  EXPECT_EQ(talk_.messages().size(), 6u);
  expect_as_fresh();
}

TEST_F(Integrity, AfterAnotherSystemMessage) {
  for (const char* text : {"Be brief.", "Be kind.", ""}) {
    PLUMB_ASSERT_OK(talk_->set_system(text));
    expect_as_fresh();
  }
}

TEST_F(Integrity, AfterACancelledAnswer) {
  int n_pieces = 0;
  const auto cancelled = talk_->ask("Tell me more.", {.on_text = [&](std::string_view) {
                                      if (++n_pieces == 3) talk_->cancel();
                                    }});
  PLUMB_ASSERT_OK(cancelled);
  ASSERT_EQ(cancelled->stop_reason, StopReason::kCancelled);
  // The last id was delivered, and nobody asked what comes behind it.
  EXPECT_EQ(talk_.decoder().n_past(), cancelled->prompt_ids.size() + cancelled->ids.size() - 1);
  expect_as_fresh();
}

TEST_F(Integrity, OfAnAnswerThatWasBegun) {
  expect_as_fresh(message("assistant", "The old"));
  EXPECT_TRUE(talk_.messages().back()["content"].get<std::string>().starts_with("The old"));
  expect_as_fresh();
}

TEST_F(Integrity, AfterAnEviction) {
  const std::vector<std::string> overrides = {"context.length=160", "context.reserve_output=8"};
  TinyTalk talk(overrides);
  PLUMB_ASSERT_OK(talk->set_system("You know everyone in the town."));
  uint32_t n_evicted = 0;
  for (int turn = 0; turn < 12; ++turn) {
    const auto answer = talk->ask("Where does Mara go in the morning?", {.max_tokens = 8});
    PLUMB_ASSERT_OK(answer);
    n_evicted += answer->evicted.n_tokens > 0;
    const OrderedJson messages = talk.messages();
    EXPECT_EQ(messages[0], message("system", "You know everyone in the town."));
    PLUMB_ASSERT_OK(talk->undo());
    OrderedJson rest = talk.messages();
    const auto bits = answer_bits(*talk, {message("user", kQuestion)});
    EXPECT_EQ(bits, fresh_bits(rest, {message("user", kQuestion)}, overrides));
  }
  EXPECT_GT(n_evicted, 1u);
  EXPECT_LT(n_evicted, 12u);
}

TEST_F(Integrity, AfterSomeoneElseUsedTheDecoder) {
  ASSERT_TRUE(talk_.decoder().truncate(3));
  const std::vector<int32_t> ids = talk_.ids("Once upon a time");
  ASSERT_TRUE(talk_.decoder().forward(ids));
  expect_as_fresh();
}

}  // namespace
}  // namespace plumbline::test
