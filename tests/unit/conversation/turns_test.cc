// What a conversation keeps of its turns. Scripted picks say what the model answers; the oracle of
// the history is what was put in and delivered.
#include <functional>
#include <stdexcept>
#include <utility>

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

// What a stop cut away is no part of the history, nor of its ids.
TEST(Turns, AnAnswerThatAStopEndedKeepsItsIds) {
  const int32_t full_stop = TinyTalk().ids("sea.").back();
  const std::string by_id = "generation.stop_ids=[" + std::to_string(full_stop) + "]";
  for (const std::string& stop : {std::string("generation.stop=[\" by the sea\"]"), by_id}) {
    SCOPED_TRACE(stop);
    TinyTalk talk({stop});
    talk.will_say("Mara lives by the sea. She is old.");
    const auto first = talk->ask("Who is Mara?", {});
    PLUMB_ASSERT_OK(first);
    ASSERT_EQ(first->text, stop == by_id ? "Mara lives by the sea" : "Mara lives");
    talk.will_say("Yes.<|im_end|>");
    const auto second = talk->ask("Is it blue?", {});
    PLUMB_ASSERT_OK(second);
    EXPECT_EQ(second->n_spoken, 1u);
    EXPECT_EQ(second->n_mismatches, 0u);
  }
}

// The second answer would repeat the first, which dry forbids, but for the breakers. Oracle: a
// conversation that began with that sampling.
TEST(Turns, OtherSamplingHasItsBreakersToo) {
  const auto ids = [](TinyTalk& talk) {
    EXPECT_TRUE(talk->ask("Who is Mara?", {}));
    const auto answer = talk->ask("Who is Mara?", {});
    EXPECT_TRUE(answer);
    return answer ? answer->ids : std::vector<int32_t>();
  };
  TinyTalk begun({"sampling.stages=[dry: {multiplier: 1000, allowed_length: 1}, greedy]",
                  "sampling.breakers=[\" \"]"});
  config::SamplingConfig sampling = begun.pipeline().config().sampling;
  TinyTalk changed;
  PLUMB_ASSERT_OK(changed->set_sampling(sampling));
  const std::vector<int32_t> expected = ids(begun);
  EXPECT_EQ(ids(changed), expected);
  sampling.breakers.clear();
  TinyTalk without;
  PLUMB_ASSERT_OK(without->set_sampling(sampling));
  EXPECT_NE(ids(without), expected) << "the breakers change nothing here";
}

// Oracle: core/doc/diagnostics.md.
TEST(Turns, FillInThePayloadDoneOrFailed) {
  TinyTalk talk({"context.length=96", "context.reserve_output=8"});
  uint64_t n_evicted = 0;
  for (int turn = 0; turn < 5; ++turn) {
    pipeline::Diagnostics told;
    const auto answer = talk->ask("Who lives by the sea?", {.max_tokens = 8, .diagnostics = &told});
    PLUMB_ASSERT_OK(answer);
    EXPECT_EQ(told.code, pipeline::ErrorCode::kOk);
    ASSERT_TRUE(told.generation && told.kv);
    EXPECT_EQ(told.generation->n_prompt_tokens, answer->prompt_ids.size());
    EXPECT_EQ(told.generation->n_generated_tokens, answer->ids.size());
    EXPECT_EQ(told.generation->stop_reason, answer->stop_reason);
    EXPECT_EQ(told.kv->n_reused_rows, answer->n_reused_rows);
    EXPECT_EQ(told.kv->n_evicted_turns, answer->evicted.n_groups);
    EXPECT_EQ(told.seed, answer->seed);
    n_evicted += told.kv->n_evicted_turns;
  }
  EXPECT_GT(n_evicted, 0u);

  pipeline::Diagnostics too_large;
  EXPECT_FALSE(talk->ask(std::string(1000, 'x'), {.diagnostics = &too_large}));
  EXPECT_EQ(too_large.code, pipeline::ErrorCode::kContextExceeded);
  pipeline::Diagnostics busy;
  const auto inside = talk->ask("Who?", {.on_text = [&](std::string_view) {
                                  EXPECT_FALSE(talk->ask("And?", {.diagnostics = &busy}));
                                }});
  PLUMB_ASSERT_OK(inside);
  EXPECT_EQ(busy.code, pipeline::ErrorCode::kBusy);
}

// Whichever way in, and however early.
TEST(Turns, TellThePayloadOfRequestsThatAreRefused) {
  TinyTalk talk;
  using Make = std::function<Result<Answer>(const conversation::Request&)>;
  const std::pair<const char*, Make> cases[] = {
      {"no messages", [&](const auto& r) { return talk->ask(std::vector<OrderedJson>{}, r); }},
      {"a wrong one", [&](const auto& r) { return talk->ask(std::vector{OrderedJson("x")}, r); }},
      {"anew", [&](const auto& r) { return talk->ask_anew({OrderedJson("x")}, r); }},
      {"no calls", [&](const auto& r) { return talk->give({message("tool", "x")}, r); }},
      {"no answer", [&](const auto& r) { return talk->retry(r); }},
      {"none to go on with", [&](const auto& r) { return talk->go_on(r); }},
      {"no such message", [&](const auto& r) { return talk->edit(7, message("user", "x"), r); }},
  };
  for (const auto& [name, make] : cases) {
    SCOPED_TRACE(name);
    pipeline::Diagnostics told;
    const auto refused = make({.diagnostics = &told});
    ASSERT_FALSE(refused);
    EXPECT_EQ(told.code, pipeline::ErrorCode::kTemplateError);
    EXPECT_EQ(told.error_detail, refused.error().message);
  }
  pipeline::Diagnostics told;
  EXPECT_THROW(static_cast<void>(talk->ask(
                   "Who?", {.on_text = [](std::string_view) { throw std::runtime_error("gone"); },
                            .diagnostics = &told})),
               std::runtime_error);
  EXPECT_EQ(told.code, pipeline::ErrorCode::kGenerationFailed);
}

// Oracle: a conversation that began with these messages.
TEST(Turns, AnswerMessagesInThePlaceOfAll) {
  TinyTalk talk({"context.length=160"});
  PLUMB_ASSERT_OK(talk->set_system("Be brief."));
  PLUMB_ASSERT_OK(talk->ask("Who is Mara?", {.max_tokens = 8}));
  const OrderedJson before = talk.messages();
  const auto rows = talk.usage().held_rows;
  EXPECT_FALSE(talk->ask_anew({message("user", std::string(1000, 'x'))}, {}));
  EXPECT_FALSE(talk->ask_anew({}, {}));
  EXPECT_EQ(talk.messages(), before);
  EXPECT_EQ(talk.usage().held_rows, rows);
  const std::vector other = {message("system", "Be kind."), message("user", "Who is blue?")};
  const auto answer = talk->ask_anew(other, {.max_tokens = 8});
  PLUMB_ASSERT_OK(answer);
  TinyTalk fresh({"context.length=160"});
  const auto expected = fresh->ask(other, {.max_tokens = 8});
  PLUMB_ASSERT_OK(expected);
  EXPECT_EQ(answer->ids, expected->ids);
  EXPECT_EQ(answer->seed, expected->seed);
  EXPECT_EQ(talk.messages(), fresh.messages());
}

}  // namespace
}  // namespace plumbline::test
