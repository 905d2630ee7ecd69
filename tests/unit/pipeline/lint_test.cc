// plumb lint's rules. Oracle: the example and the near miss of each rule's own line in the table;
// the places, counted by hand; core/doc/lint.md.
#include "core/pipeline/lint.h"

#include <gmock/gmock.h>

#include <map>
#include <set>
#include <sstream>

#include "tests/unit/config/config_files.h"

namespace plumbline::pipeline {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Lint : public config::ConfigFiles {
 protected:
  std::set<std::string> rules_on(const std::string& text) const {
    const config::ResolvedConfig resolved = loaded(write("a.yaml", config::kMinimal + text + "\n"));
    std::set<std::string> names;
    for (const LintFinding& finding : lint(resolved)) names.emplace(finding.rule->name);
    return names;
  }
};

TEST_F(Lint, EachRuleFindsItsExampleAndNotTheNearMiss) {
  std::set<std::string_view> names;
  for (const LintRule& rule : lint_rules()) {
    SCOPED_TRACE(rule.name);
    const std::string name(rule.name);
    EXPECT_TRUE(names.insert(rule.name).second) << "two rules of one name";
    EXPECT_NE(rule.applies == nullptr, rule.find == nullptr);
    EXPECT_THAT(rules_on(std::string(rule.example)), Contains(name));
    EXPECT_THAT(rules_on(std::string(rule.near_miss)), Not(Contains(name)));
  }
  EXPECT_EQ(names.size(), 26u);
}

TEST_F(Lint, PresetsHaveTheWarningsOfThoseWhomTheyRepeat) {
  const std::map<std::string, std::set<std::string>> warnings = {
      {"hf", {"top-k-without-min-p"}},
      {"tinyloop001", {"top-k-without-min-p"}},
      {"tinyrustlm-abi", {"truncation-to-one"}}};
  for (const auto& file :
       std::filesystem::directory_iterator(PLUMB_SOURCE_DIR "/configs/presets")) {
    const std::string profile = file.path().stem().string();
    SCOPED_TRACE(profile);
    const config::ResolvedConfig resolved =
        loaded(write("a.yaml", config::kMinimal + "sampling: {profile: " + profile + "}\n"));
    std::set<std::string> seen;
    for (const LintFinding& finding : lint(resolved)) {
      EXPECT_THAT(finding.place(), HasSubstr("preset " + profile));
      EXPECT_NE(finding.rule->name, "idle-stage");
      if (finding.rule->level == LintLevel::kWarning) seen.emplace(finding.rule->name);
    }
    const auto expected = warnings.find(profile);
    EXPECT_EQ(seen, expected == warnings.end() ? std::set<std::string>{} : expected->second);
  }
}

TEST_F(Lint, AStageThatIsOffCountsForNothing) {
  EXPECT_THAT(rules_on("sampling: {stages: [{top_k: {k: 20}}, {typical: {p: 1}}, {min_p: {p: 0}}, "
                       "{presence: {strength: 0}}, cdf]}"),
              ::testing::UnorderedElementsAre("top-k-without-min-p", "idle-stage"));
}

TEST_F(Lint, SaysWhereAndWhat) {
  const config::ResolvedConfig resolved = loaded(
      write("a.yaml", config::kMinimal + "sampling:\n  stages:\n    - {top_k: {k: 40}}\n    - cdf\n"
                                         "generation:\n  stop: [\"a\", \"ba\"]\n"));
  const auto findings = lint(resolved);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].rule->name, "top-k-without-min-p");
  EXPECT_EQ(findings[0].place(), (folder_ / "a.yaml").string() + ":5:7");
  EXPECT_EQ(findings[0].hit.path, "sampling.stages.0");
  EXPECT_EQ(findings[0].hit.seen, R"(top_k {"k":40})");
  EXPECT_EQ(findings[1].rule->name, "unreachable-stop");
  EXPECT_EQ(findings[1].place(), (folder_ / "a.yaml").string() + ":8:15");
  EXPECT_EQ(findings[1].hit.path, "generation.stop.1");
  EXPECT_EQ(findings[1].hit.seen, "the text \"ba\"");
}

TEST_F(Lint, WarningsComeFirst) {
  const config::ResolvedConfig resolved = loaded(write(
      "a.yaml", config::kMinimal +
                    "sampling: {stages: [{top_p: {p: 1}}, cdf]}\ngeneration: {stop: [a, a]}\n"));
  const auto findings = lint(resolved);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].rule->level, LintLevel::kWarning);
  EXPECT_EQ(findings[1].rule->level, LintLevel::kNote);
}

TEST_F(Lint, ParametersOfTheWrongTypeAreForTheStageToRefuse) {
  EXPECT_THAT(rules_on("sampling: {stages: [{top_p: {p: x}}, {repetition: {theta: [1], rule: 3}}, "
                       "{unheard_of: {}}]}"),
              Not(Contains("no-draw")));
}

TEST_F(Lint, APageOfStopsIsLookedThrough) {
  std::string stops;
  for (int i = 0; i < 10000; ++i) stops += (i == 0 ? "s" : ", s") + std::to_string(i + 10000);
  EXPECT_THAT(rules_on("sampling: {stages: [cdf]}\ngeneration: {stop: [" + stops + "]}"),
              IsEmpty());
}

TEST_F(Lint, TheDocumentationHasEachRule) {
  std::ostringstream text;
  text << std::ifstream(PLUMB_SOURCE_DIR "/core/doc/lint.md").rdbuf();
  for (const LintRule& rule : lint_rules()) {
    const char* level = rule.level == LintLevel::kWarning ? "warning" : "note";
    EXPECT_THAT(text.str(), HasSubstr("| `" + std::string(rule.name) + "` | " + level + " | "));
  }
}

}  // namespace
}  // namespace plumbline::pipeline
