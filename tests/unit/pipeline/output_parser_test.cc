// An answer's text to reasoning, content and tool calls, on the demo model with scripted picks.
#include <gmock/gmock.h>

#include "tests/unit/pipeline/tiny_world.h"

namespace plumbline::test {
namespace {

using pipeline::OutputEvent;
using pipeline::OutputParser;
using pipeline::ParsedAnswer;
using pipeline::StopReason;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::string chosen(const std::vector<std::string>& overrides, const std::string& text = "") {
  const auto pipeline = tiny_world(overrides);
  if (!text.empty()) pipeline->replace_template(text);
  const auto parser = pipeline->output_parser();
  if (!parser) return parser.error().message;
  return *parser ? (*parser)->id() : "none";
}

TEST(OutputParser, IsChosenByWhatTheTemplateNames) {
  EXPECT_EQ(chosen({}), "none");
  EXPECT_EQ(chosen({}, "{{ '<tool_call>' }}"), "plumb.parsers.tags");
  EXPECT_EQ(chosen({"parser.plugin=none"}, "{{ '<tool_call>' }}"), "none");
  EXPECT_EQ(chosen({"parser.plugin=plumb.parsers.tags"}), "plumb.parsers.tags");
  EXPECT_THAT(chosen({"parser.plugin=some.other"}), HasSubstr("some.other"));
  EXPECT_THAT(chosen({"parser.plugin=plumb.parsers.tags", "parser.options={a: 1}"}),
              HasSubstr("unknown key 'a'"));
}

struct Parsed {
  ParsedAnswer answer;
  StopReason stop_reason = StopReason::kError;
};

Parsed parse(const std::string& script, const std::string& prompt, const std::string& options) {
  Parsed parsed;
  std::vector<int32_t> ids;
  const auto encoded = tiny_world({});
  ids = (*encoded->tokenizer())->encode(script, PLUMB_SPECIAL_PARSE)->ids;
  const auto pipeline = tiny_world(
      {"parser.plugin=plumb.parsers.tags", "parser.options=" + options, "generation.max_tokens=200",
       "sampling.stages=[scripted: {ids: " + nlohmann::json(ids).dump() + "}, greedy]"});
  auto parser = pipeline->output_parser();
  EXPECT_TRUE(parser && *parser) << (parser ? "none" : parser.error().message);
  if (!parser || !*parser) return parsed;
  const pipeline::Tokenizer& tokenizer = **pipeline->tokenizer();
  auto request =
      pipeline->generation_request(tokenizer.encode("Mara lives in", PLUMB_SPECIAL_OFF)->ids);
  request.answer.shown_control_ids = (*parser)->control_ids(tokenizer);
  const auto sink = [&](const OutputEvent& event) { EXPECT_TRUE(parsed.answer.add(event)); };
  request.on_text = [&](std::string_view text) { EXPECT_TRUE((*parser)->feed(text, sink)); };
  EXPECT_TRUE((*parser)->begin(prompt));
  auto sampler = pipeline->sampler();
  const auto made = generate(**pipeline->decoder(), *sampler, tokenizer, request);
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  EXPECT_TRUE((*parser)->end(sink));
  if (made) parsed.stop_reason = parsed.answer.stop_reason(made->stop_reason);
  return parsed;
}

TEST(OutputParser, TakesAnAnswerApartAsItStreams) {
  const Parsed parsed = parse(
      "<think>the old house</think> by the sea<tool_call>{\"name\": \"f\", \"arguments\": "
      "{\"x\": 1}}</tool_call><|im_end|>",
      "", "{}");
  EXPECT_EQ(parsed.answer.reasoning, "the old house");
  EXPECT_EQ(parsed.answer.content, " by the sea");
  ASSERT_THAT(parsed.answer.tool_calls, SizeIs(1));
  EXPECT_EQ(parsed.answer.tool_calls[0].dump(), R"({"name":"f","arguments":{"x":1}})");
  EXPECT_EQ(parsed.stop_reason, StopReason::kToolCall);
}

TEST(OutputParser, AnAnswerWithoutCallsKeepsItsStopReason) {
  const Parsed parsed = parse("sea</think> house<|im_end|>", "user: <think>\n", "{}");
  EXPECT_EQ(parsed.answer.reasoning, "sea");
  EXPECT_EQ(parsed.answer.content, " house");
  EXPECT_EQ(parsed.stop_reason, StopReason::kEndToken);
}

TEST(OutputParser, SeesTheControlTokensThatItLooksFor) {
  const std::string options = R"({reasoning: {open: "<|im_start|>", close: "!"}, tool_call: null})";
  const Parsed parsed = parse("the<|im_start|> old! house<|im_end|>", "", options);
  EXPECT_EQ(parsed.answer.content, "the house");
  EXPECT_EQ(parsed.answer.reasoning, " old");
  const auto pipeline =
      tiny_world({"parser.plugin=plumb.parsers.tags",
                  R"(parser.options={reasoning: {open: "<|im_start|>", close: "<|im_end|>"}})"});
  const pipeline::Tokenizer& tokenizer = **pipeline->tokenizer();
  EXPECT_THAT((*pipeline->output_parser())->control_ids(tokenizer),
              ElementsAre(tokenizer.encode("<|im_start|>", PLUMB_SPECIAL_PARSE)->ids[0]))
      << "an end token ends";
}

}  // namespace
}  // namespace plumbline::test
