// Differences found in minijinja, by the commands of core/doc/findings.md. Oracle: jinja2, through
// golden/findings: it says who is right, and what the smallest conversation is.
#include <gmock/gmock.h>

#include "tests/end_to_end/plumb_command.h"

namespace plumbline::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

std::string unquoted(const json& seen) {
  return json::parse(seen.get<std::string>()).get<std::string>();
}

class Findings : public PlumbCommand, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    finding_ = golden_line("findings/templates.jsonl", GetParam());
    // An undefined value is an error of its own; transformers renders it.
    write("a.yaml", "plumbline: 1\nextends: " PLUMB_SOURCE_DIR
                    "/configs/pipelines/tiny-world.yaml\n"
                    "template: {undefined: hf, path: " PLUMB_SOURCE_DIR "/golden/templates/" +
                        finding_["template"].get<std::string>() + "}\n");
    write("found.jsonl", json{{"messages", finding_["found"]}}.dump() + "\n");
  }

  json finding_;
};

TEST_P(Findings, AreFoundReducedAndReproduced) {
  const Outcome reduced = shell(
      "$PLUMB reduce a.yaml --swap template=plumb.templates.minijinja --prompts found.jsonl -o "
      "case");
  ASSERT_EQ(reduced.exit, 0) << reduced.err;
  const json expected = json::parse(read_file(path("case/expected.json")));
  EXPECT_EQ(expected["verdict"], "WRONG");
  EXPECT_EQ(expected["door"], "00 prompt");
  EXPECT_THAT(finding_["expected"].get<std::string>(), HasSubstr(unquoted(expected["seen_a"])));
  EXPECT_THAT(finding_["expected"].get<std::string>(),
              Not(HasSubstr(unquoted(expected["seen_b"]))));
  const json prompt = json::parse(read_file(path("case/prompt.jsonl")));
  EXPECT_EQ(prompt["messages"], finding_["messages"]);
  EXPECT_EQ(shell("$PLUMB reproduce case").exit, 0);
}

INSTANTIATE_TEST_SUITE_P(Minijinja, Findings, testing::Values("last_of_a_text", "map_in_a_text"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace plumbline::test
