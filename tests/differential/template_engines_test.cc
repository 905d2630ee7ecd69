// Oracle: jinja2 in transformers' configuration, through golden/templates. plumb.templates.jinja is
// equal to it always; plumb.templates.minijinja but for what minijinja_differences.json lists,
// which this test keeps exact.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "plumb/ext/template.h"
#include "plumb/sdk/abi.h"
#include "tests/support/build_plugins.h"
#include "tests/support/golden_cases.h"

namespace plumbline {
namespace {

using Json = nlohmann::ordered_json;  // contexts keep the order of their keys

constexpr int64_t kNow = 1764458400;  // the clock of golden/templates

/// A case of golden/templates. expected: nothing where jinja2 raises.
struct Case {
  std::string set, name;
  std::string source, context_json;
  std::optional<std::string> expected;
};

std::string read_text(const std::string& name) {
  const auto bytes = test::read_file(test::golden_path("templates/" + name));
  return {bytes.begin(), bytes.end()};
}

std::vector<Json> read_lines(const std::string& name) {
  std::vector<Json> out;
  const std::string text = read_text(name);
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (end > at) out.push_back(Json::parse(text.substr(at, end - at)));
    at = end + 1;
  }
  return out;
}

std::optional<std::string> expected_of(const Json& line) {
  if (!line.contains("expected")) return {};
  return line["expected"].get<std::string>();
}

/// Small templates for each corner of the language. A case's name is its template.
std::vector<Case> language_cases() {
  std::vector<Case> out;
  const auto lines = read_lines("language.jsonl");
  const std::string context = lines.front()["context"].dump();
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::string source = lines[i]["template"];
    out.push_back({"language", source, source, context, expected_of(lines[i])});
  }
  return out;
}

/// Chat templates of public models. Turns that are to be continued are the pipeline's business.
std::vector<Case> public_cases() {
  std::vector<Case> out;
  const auto conversations = read_lines("public/conversations.jsonl");
  const Json sources = Json::parse(read_text("public/sources.json"));
  for (const auto& [name, unused] : sources.items()) {
    const std::string source = read_text("public/" + name + ".jinja");
    const auto answers = read_lines("public/" + name + ".jsonl");
    for (size_t i = 0; i < std::min(answers.size(), conversations.size()); ++i) {
      if (conversations[i]["continue"].get<bool>()) continue;
      out.push_back({name, answers[i]["name"], source, conversations[i]["context"].dump(),
                     expected_of(answers[i])});
    }
  }
  return out;
}

const plumb_template_engine& engine(std::string_view id) {
  static const auto plugins = test::open_plugins(PLUMB_BUILD_PLUGIN_DIR, PLUMB_EXT_TEMPLATE);
  const auto found = std::ranges::find_if(
      plugins, [&](const plumb_plugin* one) { return to_view(one->id) == id; });
  if (found == plugins.end()) throw std::runtime_error(std::string(id) + " is not built");
  return *static_cast<const plumb_template_engine*>(
      (*found)->extension(to_abi(PLUMB_EXT_TEMPLATE)));
}

/// The text, or nothing where the engine fails; then `problem` tells why.
std::optional<std::string> render(const plumb_template_engine& table, const Case& one,
                                  std::string& problem) {
  ErrorBuffer error;
  void* self = nullptr;
  plumb_status status = table.create(&test::small_host(), to_abi(one.source),
                                     to_abi(R"({"undefined": "hf"})"), &self, error);
  std::string out(1 << 20, '\0');
  if (status == PLUMB_OK) {
    auto request = make_abi<plumb_render_request>();
    request.context_json = to_abi(one.context_json);
    request.now_unix_s = kNow;
    uint64_t n_bytes = 0;
    status = table.render(self, &request, out.data(), out.size(), &n_bytes, error);
    out.resize(std::min<uint64_t>(n_bytes, out.size()));
    table.destroy(self);
  }
  problem = error.message();
  if (status != PLUMB_OK) return {};
  return out;
}

std::string shown(const std::optional<std::string>& text, const std::string& problem) {
  return text ? "'" + *text + "'" : "error: " + problem;
}

TEST(Differential_Templates, NativeIsEqualToJinja2) {
  for (const auto& cases : {language_cases(), public_cases()}) {
    for (const Case& one : cases) {
      std::string problem;
      const auto got = render(engine("plumb.templates.jinja"), one, problem);
      EXPECT_EQ(got, one.expected) << one.set << ": " << one.name << "\n" << shown(got, problem);
    }
  }
}

/// Set -> names of the cases where minijinja differs. The data has them by reason: reason -> set ->
/// names.
using Differences = std::map<std::string, std::set<std::string>>;

Differences listed() {
  Differences out;
  const auto bytes =
      test::read_file(PLUMB_SOURCE_DIR "/tests/differential/minijinja_differences.json");
  const Json all = Json::parse(bytes);
  for (const auto& [reason, sets] : all.items()) {
    for (const auto& [set, names] : sets.items()) {
      for (const auto& name : names) {
        EXPECT_TRUE(out[set].insert(name.get<std::string>()).second) << set << ": " << name;
      }
    }
  }
  return out;
}

TEST(Differential_Templates, MinijinjaDiffersWhereItIsListed) {
  const Differences expected = listed();
  for (const auto& cases : {language_cases(), public_cases()}) {
    for (const Case& one : cases) {
      std::string problem;
      const auto got = render(engine("plumb.templates.minijinja"), one, problem);
      const auto set = expected.find(one.set);
      const bool is_listed = set != expected.end() && set->second.contains(one.name);
      EXPECT_EQ(got != one.expected, is_listed)
          << one.set << ": " << one.name << "\nminijinja " << shown(got, problem) << "\njinja2    "
          << shown(one.expected, "")
          << "\n(tests/differential/minijinja_differences.json has a place for it under its "
             "reason)";
    }
  }
}

}  // namespace
}  // namespace plumbline
