// JUnit XML. Oracle: Python's XML parser, and the report that went in.
#include "core/report/junit_xml.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/os/process.h"
#include "plumb/sdk/utf8.h"
#include "tests/support/made_report.h"
#include "tests/support/temporary_folder.h"

namespace plumbline::test {
namespace {

using nlohmann::json;

// What another program reads in it: [{suite, name, class, outcome, type, message, text}].
json cases_of(const std::string& xml) {
  const TemporaryFolder folder;
  const std::string script = R"py(
import json, sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
assert root.tag == 'testsuites'
cases = [(suite, case) for suite in root for case in suite.findall('testcase')]
outcome = lambda case: next((part for part in case if part.tag in ('failure', 'error', 'skipped')), None)
for kind, tag in (('tests', None), ('failures', 'failure'), ('errors', 'error'), ('skipped', 'skipped')):
    n = lambda some: sum(tag is None or (outcome(c) is not None and outcome(c).tag == tag) for c in some)
    assert int(root.get(kind)) == n(c for _, c in cases), kind
    for suite in root:
        assert int(suite.get(kind)) == n(suite.findall('testcase')), kind
print(json.dumps([{
    'suite': suite.get('name'), 'name': case.get('name'), 'class': case.get('classname'),
    'outcome': outcome(case).tag if outcome(case) is not None else 'passed',
    'type': outcome(case).get('type') if outcome(case) is not None else None,
    'message': outcome(case).get('message') if outcome(case) is not None else None,
    'text': outcome(case).text if outcome(case) is not None else None,
    'out': suite.findtext('system-out')} for suite, case in cases]))
)py";
  const auto ran =
      os::run({"python3", folder.write("read.py", script), folder.write("junit.xml", xml)}, {});
  EXPECT_TRUE(ran && ran->code == 0) << (ran ? ran->err : ran.error().message);
  return ran && ran->code == 0 ? json::parse(ran->out) : json::array();
}

TEST(JunitXml, HasACaseForEachPromptAndDoor) {
  const json cases = cases_of(report::junit_xml(made_report()));
  ASSERT_EQ(cases.size(), 4 * 7u);
  std::vector<std::string> failed, skipped;
  for (const json& one : cases) {
    const std::string name =
        one["suite"].get<std::string>() + ": " + one["name"].get<std::string>();
    if (one["outcome"] == "failure") failed.push_back(name);
    if (one["outcome"] == "skipped") skipped.push_back(name);
  }
  EXPECT_THAT(failed,
              testing::ElementsAre("prompt 2: 20 ops", "prompt 2: 30 logits", "prompt 2: 40 pick",
                                   "prompt 2: 60 text", "prompt 3: 10 tokens", "prompt 3: 20 ops"));
  EXPECT_THAT(skipped, testing::ElementsAre("prompt 3: 50 bytes"));
  const json& op = cases[2 * 7 + 2];
  EXPECT_EQ(op["type"], "WRONG");
  EXPECT_THAT(op["message"], testing::HasSubstr("op 12.attn_q_rope: introduced 0.52"));
  EXPECT_THAT(op["text"], testing::HasSubstr("(rope_pairing)"));
  EXPECT_THAT(op["text"], testing::HasSubstr("A: 0.8412 in channel 17\nB: -0.3391"));
}

TEST(JunitXml, HostileTextsAreText) {
  const std::string xml = report::junit_xml(made_report());
  EXPECT_TRUE(utf8::is_well_formed(xml));
  const json cases = cases_of(xml);
  const std::string out = cases[2 * 7]["out"];
  EXPECT_THAT(out, testing::HasSubstr("</script><script>document.title='broken out'"));
  EXPECT_THAT(out, testing::HasSubstr("\" ' & ]]> -->"));
  EXPECT_THAT(out, testing::Not(testing::HasSubstr("\x1b"))) << "no control fits into XML";
}

TEST(JunitXml, TheReportsOwnVerdictIsACase) {
  diff::Report report = made_match();
  report.verdict = diff::Verdict::kUnexplained;
  report.notes = {"the chat templates differ, and were not compared", "and another"};
  const json found = cases_of(report::junit_xml(report)).back();
  EXPECT_EQ(found["suite"], "comparison");
  EXPECT_EQ(found["outcome"], "failure");
  EXPECT_EQ(found["type"], "UNEXPLAINED");
  EXPECT_THAT(found["message"], testing::HasSubstr("templates differ"));
  EXPECT_THAT(found["message"], testing::HasSubstr("and another"));
}

TEST(JunitXml, WhatIsAllowedIsAskedFor) {
  diff::Report report = made_match();
  report.verdict = report.prompts[0].verdict = diff::Verdict::kTieFlip;
  const auto n_failures = [&](diff::Verdict worst_allowed) {
    const json cases = cases_of(report::junit_xml(report, worst_allowed));
    return std::ranges::count_if(cases,
                                 [](const json& one) { return one["outcome"] == "failure"; });
  };
  EXPECT_EQ(n_failures(diff::Verdict::kTieFlip), 0);
  EXPECT_GT(n_failures(diff::Verdict::kMatch), 0);
}

TEST(JunitXml, AFailureWithoutADoorIsNotLost) {
  diff::Report report = made_match();
  report.verdict = report.prompts[0].verdict = diff::Verdict::kWrong;
  report.prompts[0].failure_b = "op 3.attend: a score is not finite";
  const json cases = cases_of(report::junit_xml(report));
  ASSERT_EQ(cases.size(), 8u);
  EXPECT_EQ(cases[7]["outcome"], "failure");
  EXPECT_THAT(cases[7]["text"], testing::HasSubstr("B: op 3.attend: a score is not finite"));
}

TEST(JunitXml, NothingComparedIsAnError) {
  diff::Report nothing;
  nothing.is_empty = true;
  const json cases = cases_of(report::junit_xml(nothing));
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0]["outcome"], "error");
  EXPECT_EQ(cases_of(report::junit_xml(made_match())).size(), 7u);
}

}  // namespace
}  // namespace plumbline::test
