// context_policies_test: two sides whose contexts keep other ids: is the first id found at which
// they do, and named? Oracle: what a ring and its sinks are (core/doc/kv.md): rows go when all are
// taken and an id comes.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "tests/diagnosis/fault_tally.h"
#include "tests/diagnosis/sides.h"

namespace plumbline::diff::test {
namespace {

constexpr uint32_t kRows = 16, kLess = 12, kSteps = 10;

struct Pair {
  const char* name;
  std::vector<std::string> a, b;
  uint32_t n_same;  // ids, until one side's rows are all taken
};

const std::vector<std::string> kFull = {"context.policy=full", "context.length=48"};
const std::vector<std::string> kRing = {"context.policy=ring", "context.length=16"};
const std::vector<std::string> kSinks = {"context.policy=sink_ring", "context.length=16"};
const std::vector<std::string> kEvictsMore = {"context.policy=ring", "context.length=16",
                                              "context.evict_to=3"};
const std::vector<std::string> kShortRing = {"context.policy=ring", "context.length=12"};
const Pair kPairs[] = {
    {"full_and_ring", kFull, kRing, kRows},           {"ring_and_full", kRing, kFull, kRows},
    {"full_and_sink_ring", kFull, kSinks, kRows},     {"ring_and_sink_ring", kRing, kSinks, kRows},
    {"more_goes_at_once", kRing, kEvictsMore, kRows}, {"fewer_rows", kRing, kShortRing, kLess},
};

struct Case {
  const char* model;
  const Pair* pair;
  uint32_t n_prompt;
  Mode mode;
};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.pair->name << " in " << one.model << ", " << one.n_prompt << " ids";
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* model : {"tiny-world", "smollm2-135m"}) {
    if (!is_long() && !is_tiny(model)) continue;
    for (const Pair& pair : kPairs) {
      for (const uint32_t n_prompt : {5u, 11u, 14u, 20u}) {
        for (const Mode mode : {Mode::kForced, Mode::kChained})
          all.push_back({model, &pair, n_prompt, mode});
      }
    }
  }
  return all;
}

class ContextPolicies : public testing::TestWithParam<Case> {
 public:
  static void TearDownTestSuite() { tally_.check(); }

 protected:
  static inline FaultTally tally_{"other contexts"};
};

TEST_P(ContextPolicies, ArePlacedAndNamed) {
  const auto& [model, pair, n_prompt, mode] = GetParam();
  // An answer that ends may not come so far.
  auto settings_a = pair->a, settings_b = pair->b;
  for (auto* const settings : {&settings_a, &settings_b})
    settings->push_back("generation.ignore_end=true");
  auto a = open_side(model, settings_a);
  ASSERT_TRUE(a) << a.error().message;
  auto b = open_side(model, settings_b, a->get());
  ASSERT_TRUE(b) << b.error().message;
  PromptInput prompt;
  for (uint32_t i = 0; i < n_prompt; ++i) prompt.ids.push_back(static_cast<int32_t>(100 + 7 * i));
  const auto report =
      compare(*(*a)->side, *(*b)->side,
              {.prompts = {prompt}, .mode = mode, .n_steps = kSteps, .noise = &shipped_noise()});
  ASSERT_TRUE(report) << report.error().message;
  const PromptReport& found = report->prompts.front();
  // The last token that is picked is not run.
  if (n_prompt + kSteps - 1 <= pair->n_same) {
    EXPECT_EQ(found.verdict, Verdict::kMatch);
    return;
  }
  const uint32_t step = pair->n_same < n_prompt ? 0 : pair->n_same - n_prompt + 1;
  tally_.count("context_policy", std::string(model) + ", " + pair->name,
               found.verdict == Verdict::kWrong && found.place &&
                   found.place->door == Door::kContext && found.place->step == step,
               found);
}

INSTANTIATE_TEST_SUITE_P(All, ContextPolicies, testing::ValuesIn(cases()), [](const auto& one) {
  std::string name = std::to_string(one.index) + "_" + one.param.pair->name + "_" + one.param.model;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace plumbline::diff::test
