// Oracle: jinja2 3.1.6 in transformers' configuration, through the files of golden/.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "render.h"
#include "tests/support/golden_cases.h"

namespace plumbline::test {
namespace {

using Json = nlohmann::ordered_json;  // contexts keep the order of their keys
using templates::jinja::ErrorKind;

std::string read_text(const std::string& name) {
  const auto bytes = read_file(golden_path(name));
  return {bytes.begin(), bytes.end()};
}

std::vector<Json> read_lines(const std::string& name) {
  std::istringstream in(read_text(name));
  std::vector<Json> out;
  for (std::string line; std::getline(in, line);) out.push_back(Json::parse(line));
  EXPECT_FALSE(out.empty()) << name << " is empty";
  return out;
}

/// `wanted` has "expected" text, or an "error".
void expect_same(const std::string& source, const Json& context, const Json& wanted) {
  SCOPED_TRACE(source.substr(0, 200));
  const Rendered got = render(source, context.dump());
  if (wanted.contains("error")) {
    EXPECT_TRUE(got.failed) << wanted["error"] << " expected, rendered: " << got.text;
  } else {
    EXPECT_FALSE(got.failed) << got.text;
    EXPECT_EQ(got.text, wanted["expected"].get<std::string>());
  }
}

TEST(Templates_Jinja, LanguageMatchesJinja2) {
  const auto lines = read_lines("templates/language.jsonl");
  const Json& context = lines.front()["context"];
  for (std::size_t i = 1; i < lines.size(); ++i)
    expect_same(lines[i]["template"], context, lines[i]);
}

TEST(Templates_Jinja, ChatTemplatesOfModelsMatchTransformers) {
  for (const std::string model : {"smollm2-135m", "qwen2.5-coder-0.5b", "tiny-world"}) {
    const std::string source = read_text("templates/" + model + ".jinja");
    for (const Json& line : read_lines("templates/" + model + ".jsonl")) {
      SCOPED_TRACE(model + " " + line["name"].get<std::string>());
      expect_same(source, line["context"], line);
    }
  }
}

/// Continues the last message, as transformers' continue_final_message does: a mark goes behind its
/// text, and the rendered prompt is cut where the mark comes out.
Rendered render_continued(const std::string& source, Json context) {
  const std::string mark = "CONTINUE_FINAL_MESSAGE_TAG ";
  Json& content = context["messages"].back()["content"];
  const std::string text = content;
  content = text + mark;
  Rendered got = render(source, context.dump());
  const std::size_t at = got.text.rfind(mark.substr(0, mark.size() - 1));
  if (got.failed) return got;
  const std::size_t begin = text.find_first_not_of(" \t\n");
  const std::string kept = text.substr(begin, text.find_last_not_of(" \t\n") + 1 - begin);
  if (at == std::string::npos || got.text.find(kept) == std::string::npos)
    return {true, "the text to continue is lost", ErrorKind::type};
  const bool keeps_spaces = got.text.compare(at, mark.size(), mark) == 0;
  got.text.resize(at);
  if (!keeps_spaces) got.text.resize(got.text.find_last_not_of(" \n\t\r") + 1);
  return got;
}

/// Which of Python's exceptions this is.
bool is_kind(const Rendered& got, const Json& wanted) {
  const std::string error = wanted["error"];
  if (error == "TemplateError")
    return got.kind == ErrorKind::raised &&
           got.text.ends_with(": " + wanted["message"].get<std::string>());
  if (error == "SecurityError") return got.kind == ErrorKind::security;
  if (error == "UndefinedError") return got.kind == ErrorKind::undefined;
  return got.kind == ErrorKind::type;
}

TEST(Templates_Jinja, PublicTemplatesMatchTransformers) {
  const auto conversations = read_lines("templates/public/conversations.jsonl");
  const auto sources = Json::parse(read_text("templates/public/sources.json"));
  EXPECT_GE(sources.size(), 25U);
  for (const auto& [name, provenance] : sources.items()) {
    const std::string source = read_text("templates/public/" + name + ".jinja");
    const auto answers = read_lines("templates/public/" + name + ".jsonl");
    ASSERT_EQ(answers.size(), conversations.size());
    for (std::size_t i = 0; i < answers.size(); ++i) {
      ASSERT_EQ(answers[i]["name"], conversations[i]["name"]);
      SCOPED_TRACE(name + " " + answers[i]["name"].get<std::string>());
      const Json& context = conversations[i]["context"];
      const Rendered got = conversations[i]["continue"].get<bool>()
                               ? render_continued(source, context)
                               : render(source, context.dump());
      if (answers[i].contains("error")) {
        EXPECT_TRUE(got.failed) << answers[i] << " expected, rendered: " << got.text;
        EXPECT_TRUE(is_kind(got, answers[i])) << answers[i] << " expected, seen: " << got.text;
      } else {
        EXPECT_FALSE(got.failed) << got.text;
        EXPECT_EQ(got.text, answers[i]["expected"].get<std::string>());
      }
    }
  }
}

TEST(Templates_Jinja, PublicCases) {
  int n_seen = 0;
  for (const Json& line : read_lines("cases/templates.jsonl")) {
    SCOPED_TRACE(line["id"].get<std::string>());
    const std::string op = line["input"]["op"];
    const std::string source = line["input"]["value"];
    const Json& params = line["params"];
    if (op == "render") {
      const Json& expected = line["expected"];
      expect_same(source, params["context"],
                  expected.is_object() ? expected : Json{{"expected", expected}});
      ++n_seen;
    } else if (op == "render_continue") {
      EXPECT_EQ(render_continued(source, {{"messages", params["messages"]}}).text,
                line["expected"].get<std::string>());
      ++n_seen;
    }
  }
  EXPECT_EQ(n_seen, 27);  // the others are about tokenizers
}

/// The conversations whose prompts qwen3_cases.json lists by name.
std::map<std::string, Json> qwen3_conversations() {
  const auto message = [](const char* role, const char* content) {
    return Json{{"role", role}, {"content", content}};
  };
  const Json a = message("user", "a");
  const Json test = message("user", "test");
  const Json thought = message("assistant", "<think>\nhm\n</think>\n\nb");
  const Json call = {
      {"role", "assistant"},
      {"content", ""},
      {"tool_calls", {{{"function", {{"name", "f"}, {"arguments", {{"x", "<1>"}}}}}}}}};
  const Json tool = {{"type", "function"},
                     {"function", {{"name", "f"}, {"parameters", Json::object()}}}};
  const auto context = [](const std::vector<Json>& messages, bool generates) {
    return Json{{"messages", messages}, {"add_generation_prompt", generates}};
  };
  Json no_think = context({test}, true);
  no_think["enable_thinking"] = false;
  Json turns = context({message("system", "Be brief."), message("user", "My name is Ann."),
                        message("assistant", "Hi Ann."), message("user", "What is my name?")},
                       true);
  turns["enable_thinking"] = false;
  Json tools = context({message("user", "w?"), call, message("tool", "R")}, true);
  tools["tools"] = std::vector<Json>{tool};
  return {{"T1 user only, gen", context({test}, true)},
          {"T2 user only, gen, no-think", no_think},
          {"T3 system+user, gen", context({message("system", "Be brief."), test}, true)},
          {"T4 multi-turn", turns},
          {"T5 history think stripped", context({a, thought, message("user", "c")}, true)},
          {"T6 last assistant kept", context({a, message("assistant", "b")}, false)},
          {"T7 tools+result", tools}};
}

TEST(Templates_Jinja, Qwen3Cases) {
  const std::string source = read_text("templates/qwen3.jinja");
  const auto conversations = qwen3_conversations();
  const auto cases = Json::parse(read_text("cases/qwen3_cases.json"));
  EXPECT_EQ(cases["templates"].size(), conversations.size());
  for (const auto& [name, wanted] : cases["templates"].items()) {
    SCOPED_TRACE(name);
    expect_same(source, conversations.at(name), {{"expected", wanted["rendered"]}});
  }
}

/// The strict profile gives the same text once every optional key has a value.
TEST(Templates_Jinja, Qwen3CasesInTheStrictProfileWithCanonicalMessages) {
  const std::string source = read_text("templates/qwen3.jinja");
  const auto cases = Json::parse(read_text("cases/qwen3_cases.json"));
  for (auto [name, context] : qwen3_conversations()) {
    SCOPED_TRACE(name);
    for (Json& message : context["messages"]) {
      if (!message.contains("tool_calls")) message["tool_calls"] = Json::array();
      if (!message.contains("reasoning_content")) message["reasoning_content"] = nullptr;
    }
    if (!context.contains("tools")) context["tools"] = nullptr;
    const Rendered got = render(source, context.dump(), templates::jinja::UndefinedProfile::strict);
    EXPECT_EQ(got.text, cases["templates"][name]["rendered"].get<std::string>());
  }
}

}  // namespace
}  // namespace plumbline::test
