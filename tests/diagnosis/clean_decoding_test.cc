// clean_decoding_test: pairs that draw the same by definition: nothing may be found. Oracle: the
// rules of the stages (core/doc/samplers.md) and of the canonical kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <ostream>

#include "tests/diagnosis/sides.h"

namespace plumbline::diff::test {
namespace {

struct Way {
  const char* name;
  std::vector<std::string> a, b;  // settings
};

const char* const kCoins = "sampling.stages=[temperature: {t: 0.8}, top_p: {p: 0.9}, gumbel]";
const char* const kCdf = "sampling.stages=[min_p: {p: 0.05}, temperature: {t: 0.8}, cdf]";
const char* const kPenalties =
    "sampling.stages=[repetition: {theta: 1.2}, frequency: {strength: 0.4}, top_k: {k: 40}, "
    "temperature: {t: 0.8}, gumbel]";
const char* const kMirostat = "sampling.stages=[temperature: {t: 0.9}, mirostat_v2: {tau: 4}]";

// Less than any prompt and its answer have.
const char* const kSmall = "context.length=14";

const Way kWays[] = {
    {"same_greedy", {"sampling.stages=[greedy]"}, {"sampling.stages=[greedy]"}},
    {"same_coins", {kCoins}, {kCoins}},
    {"same_penalties", {kPenalties}, {kPenalties}},
    {"same_mirostat", {kMirostat}, {kMirostat}},
    {"same_xorshift", {"sampling.stages=[xorshift64]"}, {"sampling.stages=[xorshift64]"}},
    {"threads", {kPenalties}, {kPenalties, "kernels.threads=1"}},
    {"threads_with_state", {kMirostat, "kernels.threads=1"}, {kMirostat}},
    {"chunk", {kCdf}, {kCdf, "context.prefill_chunk=3"}},
    {"chunk_of_one", {kPenalties, "context.prefill_chunk=1"}, {kPenalties}},
    {"scalar", {kCoins, "kernels.backend=plumb.cpu.scalar"}, {kCoins}},
    {"scalar_with_state", {kMirostat}, {kMirostat, "kernels.backend=plumb.cpu.scalar"}},
    {"top_k_of_all",
     {kCoins},
     {"sampling.stages=[top_k: {k: 10000000}, temperature: {t: 0.8}, top_p: {p: 0.9}, gumbel]"}},
    {"top_p_of_all",
     {kCdf},
     {"sampling.stages=[top_p: {p: 1}, min_p: {p: 0.05}, temperature: {t: 0.8}, cdf]"}},
    {"min_p_of_none",
     {kCoins},
     {"sampling.stages=[temperature: {t: 0.8}, min_p: {p: 0}, top_p: {p: 0.9}, gumbel]"}},
    {"temperature_of_one",
     {"sampling.stages=[cdf]"},
     {"sampling.stages=[temperature: {t: 1}, cdf]"}},
    {"penalty_of_nothing",
     {kCdf},
     {"sampling.stages=[frequency: {strength: 0}, min_p: {p: 0.05}, temperature: {t: 0.8}, cdf]"}},
    {"repetition_of_one",
     {kCoins},
     {"sampling.stages=[repetition: {theta: 1}, temperature: {t: 0.8}, top_p: {p: 0.9}, gumbel]"}},
    {"cap_above_all",
     {kCdf},
     {"sampling.stages=[cap: {n: 10000000}, min_p: {p: 0.05}, temperature: {t: 0.8}, cdf]"}},
    {"cap_that_cuts_nothing_kept",
     {"sampling.stages=[top_k: {k: 5}, gumbel]"},
     {"sampling.stages=[top_k: {k: 5}, cap: {n: 1024}, gumbel]"}},
    {"defaults_written_out",
     {kPenalties},
     {"sampling.stages=[repetition: {theta: 1.2, rule: ctrl_normalised, count: all}, frequency: "
      "{strength: 0.4, count: generated, control_tokens: spare}, top_k: {k: 40, ties: exact}, "
      "temperature: {t: 0.8}, gumbel]"}},
    {"preset_written_out", {"sampling.profile=diff-greedy"}, {"sampling.stages=[greedy]"}},
    {"preset_twice", {"sampling.profile=creative"}, {"sampling.profile=creative"}},
    {"stops_in_another_order",
     {kCoins, "generation.stop=[zzzz, qqqq]"},
     {kCoins, "generation.stop=[qqqq, zzzz]"}},
    {"stop_that_never_comes", {kCoins}, {kCoins, "generation.stop=[zzzzqqqq]"}},
    {"ring_that_evicts_nothing", {kCoins, "context.policy=full"}, {kCoins, "context.policy=ring"}},
    {"sinks_that_evict_nothing",
     {kCoins, "context.policy=full"},
     {kCoins, "context.policy=sink_ring"}},
    {"ring_that_evicts",
     {kCoins, kSmall, "context.policy=ring"},
     {kCoins, kSmall, "context.policy=ring", "kernels.threads=1"}},
    {"sinks_that_evict",
     {kCdf, kSmall, "context.policy=sink_ring"},
     {kCdf, kSmall, "context.policy=sink_ring", "kernels.backend=plumb.cpu.scalar"}},
    {"turns_that_all_fit", {kCdf, "context.policy=full"}, {kCdf, "context.policy=turn_aware"}},
};

const char* const kModels[] = {"tiny-world", "smollm2-135m", "gemma3-270m", "qwen2.5-coder-0.5b"};

struct CleanPair {
  const char* model;
  const Way* way;
};

void PrintTo(const CleanPair& one, std::ostream* out) {
  *out << one.way->name << " on " << one.model;
}

/// A long run takes all; else those of the small model.
std::vector<CleanPair> pairs() {
  std::vector<CleanPair> all;
  for (const char* model : kModels) {
    for (const Way& way : kWays) {
      if (is_long() || is_tiny(model)) all.push_back({model, &way});
    }
  }
  return all;
}

class CleanDecoding : public testing::TestWithParam<CleanPair> {
 public:
  static void TearDownTestSuite() {
    std::printf("%zu clean pairs of decoding, %zu false alarms, %zu MATCH\n", n_, n_alarms_,
                n_match_);
  }

 protected:
  static inline size_t n_ = 0, n_alarms_ = 0, n_match_ = 0;
};

TEST_P(CleanDecoding, RaisesNoAlarm) {
  const auto& [model, way] = GetParam();
  auto a = open_side(model, way->a);
  ASSERT_TRUE(a) << a.error().message;
  auto b = open_side(model, way->b, a->get());
  ASSERT_TRUE(b) << b.error().message;
  const auto& all = texts("held_out");
  const std::string& text =
      all[chosen(9000 + static_cast<uint32_t>(way - kWays), static_cast<uint32_t>(all.size()))];
  for (const Mode mode : {Mode::kForced, Mode::kChained}) {
    const auto report = compare(*(*a)->side, *(*b)->side,
                                {.prompts = {prompt_for(**a, model, text)},
                                 .mode = mode,
                                 .n_steps = 4,
                                 .seed = 3,
                                 .noise = &shipped_noise()});
    ASSERT_TRUE(report) << report.error().message;
    const PromptReport& found = report->prompts.front();
    ++n_;
    n_alarms_ += report->verdict >= Verdict::kUnexplained;
    n_match_ += report->verdict == Verdict::kMatch;
    EXPECT_EQ(report->verdict, Verdict::kMatch)
        << verdict_name(report->verdict) << " in mode " << mode_name(mode)
        << (found.place ? std::string(" at ") + door_name(found.place->door) + ": " +
                              found.place->seen_a + " and " + found.place->seen_b
                        : "")
        << (found.cause ? ", " + found.cause->statement : "")
        << (report->notes.empty() ? "" : "; " + report->notes.front());
  }
}

INSTANTIATE_TEST_SUITE_P(All, CleanDecoding, testing::ValuesIn(pairs()), [](const auto& one) {
  std::string name = one.param.model + std::string("_") + one.param.way->name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace plumbline::diff::test
