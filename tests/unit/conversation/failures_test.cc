// A part breaks in the middle of an answer: an error, and everything else as it was. Oracle: a
// conversation in which nothing broke.
#include <stdexcept>
#include <thread>

#include "tests/unit/conversation/broken_parts.h"
#include "tests/unit/conversation/tiny_talk.h"

namespace plumbline::test {
namespace {

using conversation::State;
using testing::HasSubstr;

class Failures : public testing::Test {
 protected:
  Failures()
      : talk_({"kernels.backend=test.broken", "tokenizer.plugin=test.broken",
               "context.when_busy=queue"},
              {}, host_with_broken_parts()) {}
  void SetUp() override { PLUMB_ASSERT_OK(talk_->ask("Who is Mara?", {.max_tokens = 8})); }
  void TearDown() override { break_part(Break::kNothing, 0); }

  void expect_failure(Break what, plumb_status code, const char* why) {
    const OrderedJson before = talk_.messages();
    const model::Decoder* const weights = &talk_.decoder();
    std::string streamed;
    break_part(what, 4);
    const auto answer = talk_->ask("Who lives by the sea?",
                                   {.on_text = [&](std::string_view text) { streamed += text; }});
    break_part(Break::kNothing, 0);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, code);
    EXPECT_THAT(answer.error().message, HasSubstr(why));
    EXPECT_FALSE(streamed.empty()) << "it broke before the answer had begun";
    // The turn is gone, what was said before is not, and the weights are where they were.
    EXPECT_EQ(talk_.messages(), before);
    EXPECT_EQ(talk_->state(), State::kIdle);
    EXPECT_EQ(&talk_.decoder(), weights);
    // The way in is free, for other threads too, and the next answer knows nothing of it.
    std::vector<int32_t> seen;
    std::thread([&] {
      const auto next = talk_->ask("Who lives by the sea?", {.max_tokens = 8});
      PLUMB_ASSERT_OK(next);
      seen = next->ids;
    }).join();
    TinyTalk healthy;
    PLUMB_ASSERT_OK(healthy->ask("Who is Mara?", {.max_tokens = 8}));
    const auto expected = healthy->ask("Who lives by the sea?", {.max_tokens = 8});
    PLUMB_ASSERT_OK(expected);
    EXPECT_EQ(seen, expected->ids);
    EXPECT_EQ(talk_.messages(), healthy.messages());
  }

  TinyTalk talk_;
};

TEST_F(Failures, AVocabularyThatFails) {
  expect_failure(Break::kPieceFails, PLUMB_INTERNAL, "the vocabulary is gone");
}

TEST_F(Failures, AKernelThatMakesNaN) {
  expect_failure(Break::kNanLogits, PLUMB_NUMERIC, "nan");
}

// Ids can spell bytes that are no UTF-8 in any vocabulary: that is text to be mended, no failure.
TEST_F(Failures, BytesThatAreNoUtf8BecomeReplacementCharacters) {
  std::string streamed;
  break_part(Break::kPieceIsNoUtf8, 4);
  const auto answer =
      talk_->ask("Who lives by the sea?",
                 {.max_tokens = 8, .on_text = [&](std::string_view text) { streamed += text; }});
  break_part(Break::kNothing, 0);
  PLUMB_ASSERT_OK(answer);
  EXPECT_THAT(answer->text, HasSubstr("\xEF\xBF\xBD"));
  EXPECT_EQ(streamed, answer->text);
  // A history with such an answer is as good as any other.
  PLUMB_ASSERT_OK(talk_->ask("And who else?", {.max_tokens = 8}));
}

TEST_F(Failures, SamplingThatLeavesNoCandidate) {
  const OrderedJson before = talk_.messages();
  nlohmann::json biases;
  for (uint32_t id = 0; id < (*talk_.pipeline().tokenizer())->info().n_vocab; ++id)
    biases[std::to_string(id)] = "-inf";
  const std::string params = nlohmann::json{{"biases", biases}}.dump();
  talk_.will_pick({{"logit_bias", config::kAuto, params}, {"greedy", config::kAuto, "{}"}});
  const auto answer = talk_->ask("Who lives by the sea?", {.max_tokens = 8});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, PLUMB_NUMERIC);
  EXPECT_THAT(answer.error().message, HasSubstr("logits are minus infinity"));
  EXPECT_EQ(talk_.messages(), before);
  talk_.will_choose();
  PLUMB_ASSERT_OK(talk_->ask("Who lives by the sea?", {.max_tokens = 8}));
}

// Oracle: a conversation that nobody asked for them.
TEST_F(Failures, SettingsThatCannotBeLeaveTheOnesThatAre) {
  const OrderedJson before = talk_.messages();
  const auto refused = [&](const char* stage, const char* params, const char* why) {
    config::SamplingConfig sampling = talk_.pipeline().config().sampling;
    sampling.stages = {{stage, config::kAuto, params}, {"greedy", config::kAuto, "{}"}};
    const auto set = talk_->set_sampling(sampling);
    ASSERT_FALSE(set);
    EXPECT_EQ(set.error().code, PLUMB_INVALID_CONFIG);
    EXPECT_THAT(set.error().message, HasSubstr(why));
  };
  refused("top_k", R"({"k": -1})", "top_k: k is -1, expected ");
  refused("temperature", R"({"t": 0})", "temperature: t is 0, expected ");
  refused("min_p", R"({"p": 0.1, "p_min": 0.2})", "sampler stage min_p");
  config::GenerationConfig generation = talk_.pipeline().config().generation;
  generation.stop.assign(10000, std::string(2000, 'x'));
  const auto set = talk_.pipeline().replace_generation(std::move(generation));
  ASSERT_FALSE(set);
  EXPECT_THAT(set.error().message, HasSubstr("stops: 20000000 bytes of text in all"));
  EXPECT_EQ(talk_.messages(), before);
  const auto answer = talk_->ask("Who lives by the sea?", {.max_tokens = 8});
  PLUMB_ASSERT_OK(answer);
  TinyTalk other;
  PLUMB_ASSERT_OK(other->ask("Who is Mara?", {.max_tokens = 8}));
  const auto expected = other->ask("Who lives by the sea?", {.max_tokens = 8});
  PLUMB_ASSERT_OK(expected);
  EXPECT_EQ(answer->ids, expected->ids);
}

// Oracle: the conversation without that request.
TEST_F(Failures, ACallbackThatThrowsLeavesTheConversationAsItWas) {
  const OrderedJson before = talk_.messages();
  for (const State at :
       {State::kPrefill, State::kDecode, State::kCancelled, State::kCompleted, State::kIdle}) {
    SCOPED_TRACE(conversation::state_name(at));
    const auto on_state = [&](State state) {
      if (state == State::kDecode && at == State::kCancelled) talk_->cancel();
      if (state == at) throw std::runtime_error("the callback is gone");
    };
    EXPECT_THROW(static_cast<void>(
                     talk_->ask("Who lives by the sea?", {.max_tokens = 8, .on_state = on_state})),
                 std::runtime_error);
    EXPECT_EQ(talk_->state(), State::kIdle);
    EXPECT_EQ(talk_.messages(), before);
  }
  PLUMB_ASSERT_OK(talk_->ask("And who else?", {.max_tokens = 8}));
}

TEST_F(Failures, ARequestThatCannotBeRenderedChangesNothing) {
  const OrderedJson before = talk_.messages();
  for (const OrderedJson& wrong :
       {OrderedJson{{"role", 1}}, OrderedJson{{"content", "x"}}, OrderedJson("x")}) {
    const auto answer = talk_->ask(std::vector<OrderedJson>{wrong}, {});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, PLUMB_INVALID_ARGUMENT);
  }
  EXPECT_FALSE(talk_->ask(std::vector<OrderedJson>{}, {}));
  EXPECT_FALSE(talk_->edit(99, message("user", "x"), {}));
  EXPECT_FALSE(talk_->cut(2));
  EXPECT_EQ(talk_.messages(), before);
  EXPECT_EQ(talk_->state(), State::kIdle);
}

}  // namespace
}  // namespace plumbline::test
