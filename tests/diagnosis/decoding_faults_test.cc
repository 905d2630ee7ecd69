// decoding_faults_test: each fault of decoding_faults.jsonl in a whole model that no signature was
// written on: is it seen where the pick is made, and is its cause named right? Oracle: what was
// done to the stages of one side.
#include <gtest/gtest.h>

#include <ostream>

#include "tests/diagnosis/fault_tally.h"
#include "tests/diagnosis/sides.h"
#include "tests/support/golden_cases.h"

namespace plumbline::diff::test {
namespace {

struct DecodingFault {
  uint32_t index = 0;
  std::string cause, model;
  std::string a, b;  // stages
  bool is_chat = false;  // a conversation, whose template writes control tokens
};

void PrintTo(const DecodingFault& one, std::ostream* out) {
  *out << one.cause << " in " << one.model << ": " << one.a << " -> " << one.b;
}

/// A long run takes all; else those of the model that needs no download.
std::vector<DecodingFault> decoding_faults() {
  std::vector<DecodingFault> taken;
  uint32_t index = 0;
  for (const auto& line :
       plumbline::test::read_jsonl(PLUMB_SOURCE_DIR "/tests/diagnosis/decoding_faults.jsonl")) {
    DecodingFault one{index++,      line.at("cause"), line.at("model"),
                      line.at("a"), line.at("b"),     line.value("chat", false)};
    if (is_long() || is_tiny(one.model)) taken.push_back(std::move(one));
  }
  return taken;
}

PromptInput prompt_of(const OpenedSide& side, const DecodingFault& fault) {
  const auto& all = texts("held_out");
  const std::string& text = all[chosen(7000 + fault.index, static_cast<uint32_t>(all.size()))];
  if (!fault.is_chat) return prompt_for(side, fault.model, text);
  return {.messages = pipeline::OrderedJson::array({{{"role", "user"}, {"content", text}}})};
}

class DecodingFaults : public testing::TestWithParam<DecodingFault> {
 public:
  static void TearDownTestSuite() { tally_.check(); }

 protected:
  static inline FaultTally tally_{"decoding faults"};
};

TEST_P(DecodingFaults, ArePlacedAndNamed) {
  const DecodingFault& fault = GetParam();
  auto a = open_side(fault.model, {"sampling.stages=" + fault.a});
  ASSERT_TRUE(a) << a.error().message;
  auto b = open_side(fault.model, {"sampling.stages=" + fault.b}, a->get());
  ASSERT_TRUE(b) << b.error().message;
  const auto report = compare(
      *(*a)->side, *(*b)->side,
      {.prompts = {prompt_of(**a, fault)}, .n_steps = 6, .seed = 5, .noise = &shipped_noise()});
  ASSERT_TRUE(report) << report.error().message;
  const PromptReport& found = report->prompts.front();
  const bool is_placed =
      found.verdict == Verdict::kWrong && found.place && found.place->door == Door::kPick;
  tally_.count(fault.cause, fault.model, is_placed, found);
}

INSTANTIATE_TEST_SUITE_P(All, DecodingFaults, testing::ValuesIn(decoding_faults()),
                         [](const auto& one) {
                           return one.param.cause + "_" + std::to_string(one.param.index);
                         });

}  // namespace
}  // namespace plumbline::diff::test
