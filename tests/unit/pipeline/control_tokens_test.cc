// An answer ends, however often the end token stands in the conversation before it: penalties spare
// control tokens. Oracle: the same run with `control_tokens: penalise`, whose answer runs on.
#include <gmock/gmock.h>

#include "tests/unit/pipeline/tiny_world.h"

namespace plumbline::test {
namespace {

using pipeline::StopReason;

/// Twelve turns, each with two control tokens around it.
std::string long_conversation() {
  std::string text;
  for (const char* answer : {"Captain is a goose.", "The goose is Captain.", "A goose."}) {
    for (int i = 0; i < 4; ++i) {
      text += "<|im_start|>user\nWho is Captain?<|im_end|>\n<|im_start|>assistant\n" +
              std::string(answer) + "<|im_end|>\n";
    }
  }
  return text + "<|im_start|>user\nWho is Captain?<|im_end|>\n<|im_start|>assistant\n";
}

StopReason end_of_answer(const std::string& penalty, const std::string& control_tokens) {
  const std::string stage = penalty + ", control_tokens: " + control_tokens;
  const auto pipeline =
      tiny_world({"sampling.stages=[" + stage + "}, greedy]", "generation.max_tokens=64"});
  const auto prompt = pipeline->encode_prompt({.bytes = long_conversation()});
  EXPECT_TRUE(prompt);
  auto sampler = pipeline->sampler();
  EXPECT_TRUE(sampler) << (sampler ? "" : sampler.error().message);
  const auto answer = pipeline::generate(**pipeline->decoder(), *sampler, **pipeline->tokenizer(),
                                         pipeline->generation_request(prompt->ids));
  EXPECT_TRUE(answer) << (answer ? "" : answer.error().message);
  return answer->stop_reason;
}

TEST(ControlTokens, AreSparedByEveryPenalty) {
  for (const char* penalty :
       {"frequency: {strength: 2, count: all", "presence: {strength: 20, count: all",
        "repetition: {theta: 4, rule: ctrl_sign, count: all"}) {
    SCOPED_TRACE(penalty);
    EXPECT_EQ(end_of_answer(penalty, "spare"), StopReason::kEndToken);
    EXPECT_EQ(end_of_answer(penalty, "penalise"), StopReason::kMaxOutput);
  }
  // These leave a token alone that the model is sure of, or that lengthens no repeat.
  for (const char* penalty :
       {"repetition: {theta: 4, count: all", "dry: {multiplier: 20, allowed_length: 1"}) {
    SCOPED_TRACE(penalty);
    EXPECT_EQ(end_of_answer(penalty, "spare"), StopReason::kEndToken);
  }
}

}  // namespace
}  // namespace plumbline::test
