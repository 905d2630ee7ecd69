// The context that templates see: complete, and nothing that the caller said is changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/pipeline/chat_template.h"

namespace plumbline::test {
namespace {

using pipeline::chat_context;
using pipeline::OrderedJson;
using testing::HasSubstr;

TEST(ChatContext, FillsInWhatTemplatesAskFor) {
  const auto context = chat_context(
      OrderedJson::parse(R"([{"role": "user", "content": "Hi"}, {"role": "assistant"}])"), true,
      {{"bos_token", "<s>"}, {"eos_token", "</s>"}});
  ASSERT_TRUE(context) << context.error().message;
  EXPECT_EQ(*context, OrderedJson::parse(R"({
    "messages": [{"role": "user", "content": "Hi"},
                 {"role": "assistant", "content": null, "tool_calls": [], "reasoning_content": null}],
    "tools": null, "documents": null, "add_generation_prompt": true, "bos_token": "<s>", "eos_token": "</s>"})"));
}

TEST(ChatContext, KeepsWhatTheCallerSays) {
  const OrderedJson input = OrderedJson::parse(R"({
    "messages": [{"role": "assistant", "content": "x", "tool_calls": [1], "reasoning_content": "r", "extra": 2}],
    "tools": [], "documents": [], "add_generation_prompt": false, "bos_token": "", "eos_token": "", "own": 1})");
  const auto context = chat_context(input, true, {{"bos_token", "<s>"}, {"eos_token", "</s>"}});
  ASSERT_TRUE(context) << context.error().message;
  EXPECT_EQ(*context, input);
}

TEST(ChatContext, SaysWhichMessageIsWrong) {
  struct {
    const char* input;
    const char* message;
  } const refusals[] = {
      {R"("Hi")", "messages: expected an array"},
      {R"({"message": []})", "messages: expected an array"},
      {R"({"messages": {}})", "messages: expected an array"},
      {R"([{"role": "user"}, 3])", "messages[1]: expected an object with a role"},
      {R"([{"content": "Hi"}])", "messages[0]: expected an object with a role"},
      {R"([{"role": 1}])", "messages[0]: expected an object with a role"},
  };
  for (const auto& refusal : refusals) {
    const auto context = chat_context(OrderedJson::parse(refusal.input), true, {});
    ASSERT_FALSE(context) << refusal.input;
    EXPECT_EQ(context.error().code, PLUMB_INVALID_ARGUMENT);
    EXPECT_THAT(context.error().message, HasSubstr(refusal.message));
  }
}

}  // namespace
}  // namespace plumbline::test
