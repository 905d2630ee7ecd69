// conversation_faults_test: one thing done wrong in one side's conversation: is the turn found at
// which it was done, and is it named? And of conversations that are the same by definition, nothing
// may be said. Oracles: what was done; and what the config's keys mean (core/doc/conversation.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <ostream>

#include "core/diff/conversation_comparison.h"
#include "tests/diagnosis/fault_tally.h"
#include "tests/diagnosis/sides.h"
#include "tests/support/mutants.h"

namespace plumbline::diff::test {
namespace {

using plumbline::test::conversation_mutants;
using plumbline::test::ConversationMutant;
using Kind = ScriptEvent::Kind;

const char* const kCoins = "sampling.stages=[temperature: {t: 0.9}, top_k: {k: 50}, gumbel]";
const char* const kModels[] = {"tiny-world", "smollm2-135m", "qwen2.5-coder-0.5b"};

/// Not those of the signatures' own probes.
std::vector<ScriptEvent> events() {
  return {{Kind::kSystem, "You answer with one sentence."},
          {Kind::kAsk, "What did the mason build?"},
          {Kind::kAsk, "Tell me about the river.", 0, 3},
          {Kind::kAsk, "Who opened the letter, and why did she wait so long?"},
          {Kind::kEdit,
           "Instead of that, list the flour, the water, the salt and all that a baker needs on a "
           "long winter morning.",
           5},
          {Kind::kAsk, "And where does the road lead?"},
          {Kind::kRetry},
          {Kind::kAsk, "How many stones are in the wall?"},
          {Kind::kAsk, "What was the weather like?"}};
}

ConversationScript script_of(uint32_t seed) {
  return {events(), 8, seed};
}

/// Room for some of the turns, so that the oldest go.
std::string small_context(const std::string& model) {
  return is_tiny(model) ? "context.length=150" : "context.length=130";
}

std::vector<std::string> models() {
  return {kModels, kModels + (is_long() ? std::size(kModels) : 1)};
}

struct Broken {
  std::string model;
  const char* cause;
  const char* how;
  std::vector<std::string> a, b;  // settings
  const ConversationMutant* mutant = nullptr;
};

std::vector<Broken> broken() {
  std::vector<Broken> all;
  for (const std::string& model : models()) {
    const std::string small = small_context(model);
    for (const ConversationMutant& mutant : conversation_mutants())
      all.push_back({model, mutant.cause, mutant.how, {kCoins, small}, {kCoins, small}, &mutant});
    const char* const first_seed =
        "sampling.stages=[temperature: {t: 0.9}, top_k: {k: 50}, {gumbel: {fault: first_seed}, "
        "plugin: plumb.samplers.fault}]";
    const std::string large = "context.length=512";
    all.push_back({model,
                   "seed_not_advanced",
                   "a draw that keeps its seed",
                   {kCoins, large},
                   {first_seed, large}});
    // The tiny one looks at the last sentence alone.
    if (is_tiny(model)) continue;
    all.push_back({model,
                   "old_rows_kept",
                   "caches that are written once",
                   {kCoins, large},
                   {kCoins, large,
                    "kernels.overrides=[{op: attend, backend: plumb.fault, options: {fault: "
                    "kv_old_row_kept}}]"}});
  }
  return all;
}

void PrintTo(const Broken& one, std::ostream* out) {
  *out << one.cause << " in " << one.model << ": " << one.how;
}

class ConversationFaults : public testing::TestWithParam<Broken> {
 public:
  static void TearDownTestSuite() { tally_.check(); }

 protected:
  static inline FaultTally tally_{"conversation faults"};
};

/// Counts the turns of B's first conversation, up to the one at which something is done to it.
class FirstChange {
 public:
  Result<void> watch(conversation::Conversation& conversation,
                     const std::function<Result<void>()>& change) {
    PLUMB_ASSIGN(const auto before, conversation.messages());
    PLUMB_ASSIGN(const auto used_before, conversation.usage());
    PLUMB_TRY(change());
    PLUMB_ASSIGN(const auto messages, conversation.messages());
    PLUMB_ASSIGN(const auto used, conversation.usage());
    is_seen_ = is_seen_ || messages != before || used.held_rows != used_before.held_rows;
    if (!is_seen_) ++turn_;
    return {};
  }
  uint32_t turn() const { return turn_; }

 private:
  uint32_t turn_ = 0;
  bool is_seen_ = false;
};

TEST_P(ConversationFaults, ArePlacedAndNamed) {
  const Broken& one = GetParam();
  auto a = open_side(one.model, one.a);
  ASSERT_TRUE(a) << a.error().message;
  auto b = open_side(one.model, one.b, a->get());
  ASSERT_TRUE(b) << b.error().message;
  ConversationRequest request{.script = script_of(11)};
  FirstChange change;
  if (one.mutant != nullptr) {
    request.behind_turn_of_b = [&](conversation::Conversation& conversation, const TurnSeen& seen) {
      return change.watch(conversation,
                          [&] { return one.mutant->apply(*(*b)->pipeline, conversation, seen); });
    };
  }
  const auto report = compare_conversations(*(*a)->side, *(*b)->side, request);
  ASSERT_TRUE(report) << report.error().message;
  const PromptReport& found = report->prompts.back();
  const bool is_its_turn = one.mutant == nullptr || found.index == change.turn();
  const bool is_placed = report->verdict == Verdict::kWrong && found.place && is_its_turn;
  tally_.count(one.cause, one.model + ", turn " + std::to_string(found.index), is_placed, found);
}

INSTANTIATE_TEST_SUITE_P(All, ConversationFaults, testing::ValuesIn(broken()), [](const auto& one) {
  std::string name = one.param.model + std::string("_") + one.param.cause + "_" + one.param.how;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

struct Way {
  const char* name;
  std::vector<std::string> a, b;  // settings
};
const Way kWays[] = {
    {"same", {kCoins}, {kCoins}},
    {"threads", {kCoins}, {kCoins, "kernels.threads=1"}},
    {"chunk", {kCoins, "context.prefill_chunk=4"}, {kCoins}},
    {"scalar", {kCoins, "kernels.backend=plumb.cpu.scalar"}, {kCoins}},
    {"no_op_stage",
     {kCoins},
     {"sampling.stages=[top_p: {p: 1}, temperature: {t: 0.9}, top_k: {k: 50}, gumbel]"}},
    {"full_while_all_fits",
     {kCoins, "context.length=512", "context.policy=turn_aware"},
     {kCoins, "context.length=512", "context.policy=full"}},
    {"longer_context", {kCoins, "context.length=512"}, {kCoins, "context.length=600"}},
    {"stop_that_never_comes", {kCoins}, {kCoins, "generation.stop=[zzzzqqqq]"}},
    {"stored_and_retokenised",
     {kCoins, "context.history_ids=stored"},
     {kCoins, "context.history_ids=retokenise"}},
};

// B cannot be made to pick what A picked in a turn that A refused.
TEST(ConversationTurns, ThatBothRefuseAreTheSame) {
  auto a = open_side("tiny-world", {kCoins, "kernels.activations=f32"});
  ASSERT_TRUE(a) << a.error().message;
  auto b = open_side("tiny-world", {kCoins}, a->get());
  ASSERT_TRUE(b) << b.error().message;
  const ConversationScript script{{{Kind::kRetry}, {Kind::kAsk, "What is a mill?"}}, 8, 1};
  const auto report = compare_conversations(*(*a)->side, *(*b)->side, {.script = script});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->verdict, Verdict::kMatch);
  ASSERT_EQ(report->prompts.size(), 2);
  EXPECT_TRUE(report->prompts[0].notes[0].starts_with("both sides refuse it"));
}

// Where equal bits are not promised, B picks what A picked, whatever its stages are.
TEST(ConversationChoices, WhatNoTurnShowsIsNoMatch) {
  const std::string small = small_context("tiny-world");
  auto a = open_side("tiny-world", {kCoins, small, "kernels.activations=f32"});
  ASSERT_TRUE(a) << a.error().message;
  auto b = open_side("tiny-world", {small, "sampling.stages=[greedy]"}, a->get());
  ASSERT_TRUE(b) << b.error().message;
  const auto report = compare_conversations(*(*a)->side, *(*b)->side, {.script = script_of(23)});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->verdict, Verdict::kUnexplained);
  EXPECT_TRUE(std::ranges::any_of(report->notes, [](const std::string& note) {
    return note.find("was not compared, where it would show: sampling.stages") != note.npos;
  }));
}

TEST(ConversationChoices, ASeedThatIsOverruledIsNoted) {
  auto a = open_side("tiny-world", {kCoins, "sampling.seed=1"});
  ASSERT_TRUE(a) << a.error().message;
  auto b = open_side("tiny-world", {kCoins, "sampling.seed=2"}, a->get());
  ASSERT_TRUE(b) << b.error().message;
  const auto report = compare_conversations(*(*a)->side, *(*b)->side, {.script = script_of(23)});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->verdict, Verdict::kMatch);
  EXPECT_TRUE(std::ranges::any_of(report->notes, [](const std::string& note) {
    return note.find("both sides' coins were of seed 23") != note.npos;
  }));
}

struct Clean {
  std::string model;
  const Way* way;
};

std::vector<Clean> clean() {
  std::vector<Clean> all;
  for (const std::string& model : models()) {
    for (const Way& way : kWays) all.push_back({model, &way});
  }
  return all;
}

void PrintTo(const Clean& one, std::ostream* out) {
  *out << one.way->name << " on " << one.model;
}

class CleanConversations : public testing::TestWithParam<Clean> {};

TEST_P(CleanConversations, RaiseNoAlarm) {
  const auto& [model, way] = GetParam();
  auto settings_a = way->a, settings_b = way->b;
  settings_a.insert(settings_a.begin(), small_context(model));
  settings_b.insert(settings_b.begin(), small_context(model));
  auto a = open_side(model, settings_a);
  ASSERT_TRUE(a) << a.error().message;
  auto b = open_side(model, settings_b, a->get());
  ASSERT_TRUE(b) << b.error().message;
  const auto report = compare_conversations(*(*a)->side, *(*b)->side, {.script = script_of(23)});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->verdict, Verdict::kMatch);
  EXPECT_EQ(report->prompts.size(), events().size());
  const PromptReport& last = report->prompts.back();
  if (last.place)
    ADD_FAILURE() << last.prompt << ": " << last.place->seen_a << " and " << last.place->seen_b;
}

INSTANTIATE_TEST_SUITE_P(All, CleanConversations, testing::ValuesIn(clean()), [](const auto& one) {
  std::string name = one.param.model + std::string("_") + one.param.way->name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace plumbline::diff::test
