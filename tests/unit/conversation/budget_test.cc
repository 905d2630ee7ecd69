// What goes when a conversation outgrows the context. Oracle: the rules of
// core/doc/conversation.md, and the decoder's capacity.
#include "tests/unit/conversation/tiny_talk.h"

namespace plumbline::test {
namespace {

using testing::HasSubstr;

constexpr const char* kSystem = "You know everyone who lives in the town by the sea.";

// PLUMB_LONG_TESTS: 10,000 tokens in a window of 4,096; else an eighth of both.
TEST(Budget, MoreThanTwoWindowsOfTokensKeepTheSystemMessage) {
  const bool is_long = std::getenv("PLUMB_LONG_TESTS") != nullptr;
  const uint32_t n_window = is_long ? 4096 : 512;
  const uint64_t n_all = is_long ? 10'000 : 1'250;
  TinyTalk talk({"context.length=" + std::to_string(n_window), "context.reserve_output=64"});
  PLUMB_ASSERT_OK(talk->set_system(kSystem));
  const std::string question =
      "Tobin the fisherman lives in the blue hut on the shore. In the morning Tobin puts on his "
      "green coat and takes a long net. All day he catches trout in the lake, and Button the white "
      "goose watches. What does he do in the evening, and who is with him?";
  uint64_t n_tokens = 0;
  uint32_t n_evictions = 0;
  while (n_tokens < n_all) {
    const uint64_t n_gone = talk.usage().n_evicted_messages;
    const auto answer = talk->ask(question, {.max_tokens = 24});
    PLUMB_ASSERT_OK(answer);
    n_tokens += talk.ids(question).size() + answer->ids.size();
    ASSERT_LE(answer->prompt_ids.size() + 24, n_window);
    const OrderedJson messages = talk.messages();
    ASSERT_EQ(messages[0], message("system", kSystem));
    ASSERT_EQ(messages[1]["role"], "user") << "half of a turn went";
    const bool evicts = answer->evicted.n_tokens > 0;
    n_evictions += evicts;
    const auto& went = answer->evicted.messages;
    EXPECT_EQ(talk.usage().n_evicted_messages - n_gone, went.last - went.first);
    if (evicts) {
      EXPECT_EQ(went.first, 1u);
      // Three quarters of the room are left at most, so that the next turns fit.
      EXPECT_LE(answer->prompt_ids.size(), (n_window - 24) / 4 * 3);
    } else {
      EXPECT_TRUE(n_tokens < n_window / 2 || answer->n_reused_rows > n_window / 4);
    }
  }
  EXPECT_GE(n_evictions, 1u);
  EXPECT_LE(n_evictions, 10u);
}

TEST(Budget, KeepsACallOfAToolWithItsResultAndItsAnswer) {
  TinyTalk talk({"context.length=120", "context.reserve_output=8", "context.evict_to=100"});
  std::vector<OrderedJson> history = {message("system", "Be brief."),
                                      message("user", "Where is Mara?"),
                                      message("assistant", "I ask."),
                                      message("tool", "In the old house."),
                                      message("assistant", "In the old house."),
                                      message("user", "And Tobin?"),
                                      message("assistant", "By the sea.")};
  PLUMB_ASSERT_OK(talk->set_messages(history));
  const auto answer = talk->ask("And where does Pip live with the white goose?", {.max_tokens = 8});
  PLUMB_ASSERT_OK(answer);
  EXPECT_EQ(answer->evicted.messages.first, 1u);
  EXPECT_EQ(answer->evicted.messages.last, 5u);
  const OrderedJson messages = talk.messages();
  EXPECT_EQ(messages[0], history[0]);
  EXPECT_EQ(messages[1], history[5]);
}

// A prompt of a known size: exactly full, one over, and the reserve.
TEST(Budget, KeepsTheReserveToTheLastRow) {
  const auto rows_of = [](TinyTalk& talk, const std::string& text) {
    const auto prompt = talk.pipeline().render(OrderedJson::array({message("user", text)}), {});
    return static_cast<uint32_t>((*talk.pipeline().encode_prompt(*prompt)).ids.size());
  };
  const std::string text = "Who lives in the old house by the sea?";
  TinyTalk any;
  const uint32_t n_rows = rows_of(any, text);
  for (const char* policy : {"full", "turn_aware"}) {
    SCOPED_TRACE(policy);
    const auto length = [&](uint32_t n) { return "context.length=" + std::to_string(n); };
    const std::string kept = std::string("context.policy=") + policy;
    TinyTalk fits({length(n_rows + 8), kept, "context.reserve_output=8"});
    PLUMB_ASSERT_OK(fits->ask(text, {.max_tokens = 100}));
    EXPECT_EQ(fits.messages().size(), 2u);

    TinyTalk over({length(n_rows + 7), kept, "context.reserve_output=8"});
    const auto refused = over->ask(text, {.max_tokens = 100});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, PLUMB_INVALID_ARGUMENT);
    EXPECT_THAT(refused.error().message,
                HasSubstr("has " + std::to_string(n_rows) + " ids, but there is room for " +
                          std::to_string(n_rows - 1)));
    EXPECT_EQ(over.messages().size(), 0u);
    // No more is reserved than may be said.
    PLUMB_ASSERT_OK(over->ask(text, {.max_tokens = 7}));
  }
}

TEST(Budget, RefusesWhatAloneDoesNotFit) {
  TinyTalk talk({"context.length=64", "context.reserve_output=8"});
  PLUMB_ASSERT_OK(talk->ask("Who is Mara?", {.max_tokens = 4}));
  const OrderedJson before = talk.messages();
  std::string endless;
  for (int i = 0; i < 40; ++i) endless += "the old house by the sea ";
  const auto refused = talk->ask(endless, {.max_tokens = 4});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("the system message and the last turn"));
  EXPECT_EQ(talk.messages(), before);
  PLUMB_ASSERT_OK(talk->set_system(endless));
  const auto again = talk->ask("And Tobin?", {.max_tokens = 4});
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("the system message and the last turn"));
  PLUMB_ASSERT_OK(talk->set_system(""));
  EXPECT_EQ(talk.messages(), before);
  PLUMB_ASSERT_OK(talk->ask("And Tobin?", {.max_tokens = 4}));
}

TEST(Budget, FullRefusesWhatTurnAwareDrops) {
  TinyTalk talk({"context.length=96", "context.reserve_output=8", "context.policy=full"});
  size_t n_turns = 0;
  for (;; ++n_turns) {
    ASSERT_LT(n_turns, 20u);
    const auto answer = talk->ask("Who lives by the sea?", {.max_tokens = 8});
    if (answer) continue;
    EXPECT_EQ(answer.error().code, PLUMB_INVALID_ARGUMENT);
    EXPECT_THAT(answer.error().message, HasSubstr("context.policy: turn_aware"));
    break;
  }
  EXPECT_GE(n_turns, 2u);
  EXPECT_EQ(talk.messages().size(), 2 * n_turns);
}

TEST(Budget, RefusesPoliciesThatCutTurns) {
  for (const config::ContextPolicy policy :
       {config::ContextPolicy::kRing, config::ContextPolicy::kSinkRing}) {
    const auto made = tiny_world({});
    const auto refused = Conversation::create(*made, {.policy = policy});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, PLUMB_INVALID_CONFIG);
    EXPECT_THAT(refused.error().message, HasSubstr("they are for raw text"));
  }
}

TEST(Budget, IsDeterministic) {
  std::vector<std::vector<size_t>> went(2);
  for (auto& run : went) {
    TinyTalk talk({"context.length=200", "context.reserve_output=16"});
    for (int turn = 0; turn < 20; ++turn) {
      const auto answer = talk->ask(
          "Who is " + std::string(static_cast<size_t>(turn % 7), 'a') + "?", {.max_tokens = 16});
      PLUMB_ASSERT_OK(answer);
      run.push_back(answer->evicted.messages.last);
      run.push_back(answer->evicted.n_tokens);
    }
  }
  EXPECT_EQ(went[0], went[1]);
}

}  // namespace
}  // namespace plumbline::test
