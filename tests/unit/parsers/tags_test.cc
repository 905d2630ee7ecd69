// Reasoning and tool calls between tags. Oracle: the text cut by hand; and, for any other way to
// cut it into pieces, the events of the text in one piece.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <random>

#include "tag_parser.h"

namespace plumbline::test {
namespace {

using parsers::tags::Event;
using parsers::tags::Options;
using parsers::tags::read_options;
using parsers::tags::TagParser;
using testing::ElementsAre;
using testing::HasSubstr;
using Events = std::vector<std::pair<char, std::string>>;  // c, r or t; neighbours joined

void take(TagParser& parser, Events& events) {
  for (Event event = parser.next(); event.kind != PLUMB_EVENT_NONE; event = parser.next()) {
    const char kind = event.kind == PLUMB_EVENT_CONTENT     ? 'c'
                      : event.kind == PLUMB_EVENT_REASONING ? 'r'
                                                            : 't';
    if (kind != 't' && !events.empty() && events.back().first == kind) {
      events.back().second += event.text;
    } else {
      events.emplace_back(kind, event.text);
    }
  }
}

Options options(const std::string& json) {
  const auto read = read_options(json);
  EXPECT_TRUE(read) << (read ? "" : read.error().message);
  return read ? *read : Options{};
}

Events parse(const std::vector<std::string>& pieces, const std::string& json = "{}",
             const std::string& prompt = "") {
  TagParser parser(options(json));
  parser.begin(prompt);
  Events events;
  for (const std::string& piece : pieces) {
    parser.feed(piece, false);
    take(parser, events);
  }
  parser.feed("", true);
  take(parser, events);
  return events;
}

Events parse(const std::string& text, const std::string& json = "{}") {
  return parse(std::vector{text}, json);
}

TEST(TagParser, SplitsReasoningContentAndCalls) {
  EXPECT_EQ(parse("<think>\nHm.\n</think>\n\nLet me look.\n<tool_call>\n{\"name\": \"f\", "
                  "\"arguments\": {\"b\": 1.0, \"a\": [\"x\"]}}\n</tool_call>"),
            (Events{{'r', "\nHm.\n"},
                    {'c', "\n\nLet me look.\n"},
                    {'t', R"({"name":"f","arguments":{"b":1.0,"a":["x"]}})"}}));
  EXPECT_EQ(parse("plain"), (Events{{'c', "plain"}}));
  EXPECT_EQ(parse(""), Events{});
  EXPECT_EQ(
      parse("<tool_call>{\"name\":\"a\"}</tool_call>\n<tool_call>{\"name\":\"b\"}</tool_call>"),
      (Events{{'t', R"({"name":"a","arguments":{}})"},
              {'c', "\n"},
              {'t', R"({"name":"b","arguments":{}})"}}));
}

TEST(TagParser, TagsCountOnlyWhereTheyMeanSomething) {
  EXPECT_EQ(parse("a</think>b</tool_call>c < d <thin"),
            (Events{{'c', "a</think>b</tool_call>c < d <thin"}}));
  EXPECT_EQ(parse("<think>a <think> <tool_call>{}</tool_call> b"),
            (Events{{'r', "a <think> <tool_call>{}</tool_call> b"}}));
}

TEST(TagParser, ACallThatIsNotUnderstoodIsContentWithItsTags) {
  for (const std::string body :
       {"", "{", "[]", "{\"name\": 5}", "{\"name\": \"\"}", "{\"arguments\": {}}",
        "{\"name\": \"f\", \"arguments\": \"x\"}", "{\"name\": \"f\"} and more",
        "{\"name\": \"f\", \"arguments\": {\"n\": 1e999}}", "\xF0\x9F\x99\x82",
        "<think>x</think>"}) {
    const std::string text = "a<tool_call>" + body + "</tool_call>b";
    EXPECT_EQ(parse(text), (Events{{'c', text}})) << body;
    EXPECT_EQ(parse("<tool_call>" + body), (Events{{'c', "<tool_call>" + body}})) << body;
  }
  const std::string deep =
      "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":" + std::string(100000, '[') +
      std::string(100000, ']') + "}}</tool_call>";
  EXPECT_EQ(parse(deep), (Events{{'c', deep}}));
}

TEST(TagParser, ACallThatIsTooLongIsContentWhateverItsPieces) {
  const std::string fill = "\xE2\x82\xAC";  // a limit that falls inside of it is no border
  std::string text = "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"";
  while (text.size() < (size_t{1} << 20) + 100) text += fill;
  text += "\"}}</tool_call><think>x</think>";
  const Events whole = parse(text);
  EXPECT_EQ(whole, (Events{{'c', text.substr(0, text.size() - 16)}, {'r', "x"}}));
  std::vector<std::string> pieces;
  for (size_t at = 0; at < text.size(); at += 4099) pieces.push_back(text.substr(at, 4099));
  EXPECT_EQ(parse(pieces), whole);
}

// Four MiB of tags in one piece: with a step for each that costs the rest, this would not end.
TEST(TagParser, ManyTagsAreNoWorkForEachOther) {
  for (const std::string word : {"<think>a</think>b", "<tool_call>x</tool_call>", "<tool_call>"}) {
    std::string text;
    while (text.size() < (size_t{1} << 22)) text += word;
    TagParser parser(Options{});
    parser.feed(text, true);
    size_t n_bytes = 0, n_events = 0;
    for (Event event = parser.next(); event.kind != PLUMB_EVENT_NONE; event = parser.next()) {
      n_bytes += event.text.size();
      ++n_events;
    }
    EXPECT_GT(n_events, 4u);
    const bool has_reasoning = word.starts_with("<think>");
    EXPECT_EQ(n_bytes, has_reasoning ? 2 * text.size() / word.size() : text.size());
  }
}

TEST(TagParser, ABlockThatThePromptHasOpened) {
  const std::string open = R"({"starts_in_reasoning": true})";
  EXPECT_EQ(parse("so</think>yes", open), (Events{{'r', "so"}, {'c', "yes"}}));
  const auto behind = [](const std::string& prompt) {
    return parse(std::vector<std::string>{"so</think>yes"}, "{}", prompt);
  };
  EXPECT_EQ(behind("assistant\n<think>\n"), (Events{{'r', "so"}, {'c', "yes"}}));
  EXPECT_EQ(behind("assistant\n<think>\n\n</think>\n\n"), (Events{{'c', "so</think>yes"}}));
  EXPECT_EQ(behind("say <think> please"), (Events{{'c', "so</think>yes"}}));
}

TEST(TagParser, HoldsBackOnlyWhatCouldBecomeATag) {
  TagParser parser(Options{});
  Events events;
  parser.feed("a <tool_", false);
  take(parser, events);
  EXPECT_EQ(events, (Events{{'c', "a "}}));
  parser.feed("s> <thin", false);
  take(parser, events);
  EXPECT_EQ(events, (Events{{'c', "a <tool_s> "}}));
  parser.feed("k>deep </", false);
  take(parser, events);
  EXPECT_EQ(events.back(), (std::pair{'r', std::string("deep ")}));
}

TEST(TagParser, EveryWayToCutTheTextGivesTheSameEvents) {
  const std::string text =
      "a<<think>b</thin</think>\n<tool_call>{\"name\":\"f\"}</tool_call>c<tool_call>{]</tool_call>"
      "<think><tool_call>";
  const Events whole = parse(text);
  ASSERT_EQ(whole.size(), 6u);
  for (size_t first = 0; first <= text.size(); ++first) {
    for (size_t second = first; second <= text.size(); ++second) {
      ASSERT_EQ(
          parse({text.substr(0, first), text.substr(first, second - first), text.substr(second)}),
          whole)
          << first << ", " << second;
    }
  }
  std::vector<std::string> bytes;
  for (const char byte : text) bytes.emplace_back(1, byte);
  EXPECT_EQ(parse(bytes), whole);
}

std::string without_reasoning_tags(std::string text) {
  for (const std::string tag : {"<think>", "</think>"}) {
    for (size_t at = 0; (at = text.find(tag, at)) != std::string::npos;) text.erase(at, tag.size());
  }
  return text;
}

TEST(TagParser, NothingOfATextIsLost) {
  const std::vector<std::string> words = {"<think>",     "</think>",
                                          "<tool_call>", "</tool_call>",
                                          "<tool_",      "{\"name\":\"f\",\"arguments\":{}}",
                                          "<",           "x\n"};
  std::mt19937 random(11);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (uint32_t i = random() % 9; i > 0; --i) text += words[random() % words.size()];
    std::vector<std::string> pieces;
    for (size_t at = 0; at < text.size();) {
      const size_t n = 1 + random() % 9;
      pieces.push_back(text.substr(at, n));
      at += n;
    }
    const Events whole = parse(text);
    ASSERT_EQ(parse(pieces), whole) << text;
    std::string seen;
    for (const auto& [kind, bytes] : whole)
      seen += kind == 't' ? "<tool_call>" + bytes + "</tool_call>" : bytes;
    EXPECT_EQ(without_reasoning_tags(seen), without_reasoning_tags(text)) << text;
  }
}

TEST(TagOptions, OtherTagsAndNone) {
  const std::string json = R"({"reasoning": {"open": "[T]", "close": "[/T]"}, "tool_call": null})";
  EXPECT_EQ(parse("[T]a[/T]<tool_call>{\"name\":\"f\"}</tool_call>", json),
            (Events{{'r', "a"}, {'c', "<tool_call>{\"name\":\"f\"}</tool_call>"}}));
}

TEST(TagOptions, RefusesWhatItDoesNotKnow) {
  const auto refusal = [](const std::string& json) {
    const auto read = read_options(json);
    EXPECT_FALSE(read) << json;
    if (read) return std::string();
    EXPECT_EQ(read.error().code, PLUMB_INVALID_CONFIG);
    return read.error().message;
  };
  EXPECT_THAT(refusal("[]"), HasSubstr("a JSON object expected"));
  EXPECT_THAT(refusal(R"({"thinking": {}})"), HasSubstr("unknown key 'thinking'"));
  EXPECT_THAT(refusal(R"({"reasoning": "x"})"), HasSubstr("open and close expected, or null"));
  EXPECT_THAT(refusal(R"({"reasoning": {"open": "x"}})"), HasSubstr("no reasoning.close"));
  EXPECT_THAT(refusal(R"({"reasoning": {"open": "", "close": "x"}})"), HasSubstr("0 bytes"));
  EXPECT_THAT(refusal(R"({"reasoning": {"open": "a", "close": "b", "c": 1}})"),
              HasSubstr("unknown key 'c'"));
  EXPECT_THAT(refusal(R"({"starts_in_reasoning": 1})"), HasSubstr("true or false expected"));
  EXPECT_THAT(refusal(R"({"starts_in_reasoning": true, "reasoning": null})"),
              HasSubstr("without reasoning"));
  EXPECT_THAT(refusal(R"({"tool_call": {"open": "<think>!", "close": "x"}})"),
              HasSubstr("taken for each other"));
}

}  // namespace
}  // namespace plumbline::test
