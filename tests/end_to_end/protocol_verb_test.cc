// protocol, from outside, on the model of the repository. Oracle: core/doc/protocol.md: what ran
// passed, what could not run says why, and one payload comes out whatever happens.
#include <gmock/gmock.h>

#include "tests/end_to_end/plumb_command.h"

namespace plumbline::test {
namespace {

using nlohmann::json;
using testing::AnyOf;
using testing::HasSubstr;

class ProtocolVerb : public PlumbCommand {
 protected:
  json run(const std::string& arguments, int exit) const {
    const Outcome ran = shell("$PLUMB protocol " + arguments + " --json");
    EXPECT_EQ(ran.exit, exit) << ran.err << ran.out;
    return json::parse(ran.out, nullptr, false);
  }
  static std::string stable(json payload) {
    payload.erase("volatile");
    return payload.dump();
  }
};

TEST_F(ProtocolVerb, EveryStageRunsAndPasses) {
  const json all = run("tiny-world --tokens 48 --set sampling.profile=balanced", 0);
  ASSERT_EQ(all["stages"].size(), 6u);
  for (const json& stage : all["stages"]) {
    // No second tokenizer plugin reads this vocabulary, and a build may have no WebAssembly.
    const bool may_not_run = stage["number"] == 1 || stage["number"] == 3;
    EXPECT_THAT(stage["verdict"].get<std::string>(),
                AnyOf("MATCH", "DRIFT", "TIE_FLIP", "NOT RUN"));
    const bool did_run = stage["verdict"] != "NOT RUN";
    EXPECT_TRUE(did_run || may_not_run) << stage;
    EXPECT_EQ(did_run, stage["not_run"].is_null()) << stage;
  }
  EXPECT_EQ(all["stages"][5]["verdict"], "MATCH");
}

TEST_F(ProtocolVerb, ThePayloadIsTheSameTwiceApartFromTimes) {
  const std::string arguments = "tiny-world --tokens 16 --stages 1,2,5-6";
  const json once = run(arguments, 0);
  EXPECT_EQ(stable(once), stable(run(arguments, 0)));
  EXPECT_EQ(once["stages"][2]["not_run"], "not asked for");
}

TEST_F(ProtocolVerb, IdsOfAnotherProgramAreComparedExactly) {
  const json line = golden_lines("tokenizers/tiny-llama.jsonl")[5];
  write("right.jsonl", line.dump() + "\n");
  json wrong = line;
  wrong["ids"].push_back(1);
  write("wrong.jsonl", wrong.dump() + "\n");
  const std::string config =
      "tiny-world --set model.source.path=$SOURCE/golden/models/tiny-llama/model.gguf --stages 1 ";
  EXPECT_EQ(run(config + "--corpus right.jsonl", 0)["stages"][0]["verdict"], "MATCH");
  const json found = run(config + "--corpus wrong.jsonl", 1);
  EXPECT_EQ(found["stages"][0]["verdict"], "WRONG");
  const json& finding = found["stages"][0]["findings"][0];
  EXPECT_THAT(finding["statement"].get<std::string>(), HasSubstr("1 differ; first"));
  EXPECT_EQ(finding["what"], "ids of wrong.jsonl");
}

TEST_F(ProtocolVerb, GoldenDataIsTheReferenceOfTwoStages) {
  ASSERT_EQ(shell("$PLUMB golden record tiny-world -p 'Mara lives in' --tokens 8 -o kept "
                  "--set kernels.activations=f32")
                .exit,
            0);
  const json found = run("tiny-world --golden kept --stages 1-2", 0);
  EXPECT_EQ(found["stages"][0]["verdict"], "MATCH");
  EXPECT_EQ(found["stages"][1]["verdict"], "MATCH");
  // A part of the golden data that is gone is no stage that cannot run.
  const Outcome lost = shell(
      "rm kept/*.npy; $PLUMB protocol tiny-world --golden kept --stages 1-2 --junit out.xml "
      "--json");
  EXPECT_EQ(lost.exit, 1) << lost.out;
  EXPECT_EQ(json::parse(lost.out)["stages"][1]["verdict"], "FAILED");
  EXPECT_THAT(read_file(path("out.xml")), HasSubstr("failures=\"1\""));
  const Outcome other = shell(
      "$PLUMB protocol tiny-world --golden kept --stages 1 --json --set "
      "model.source.path=$SOURCE/golden/models/tiny-llama/model.gguf");
  EXPECT_EQ(other.exit, 4);
  EXPECT_THAT(json::parse(other.out)["failure"]["message"].get<std::string>(),
              HasSubstr("weights: found sha256"));
}

TEST_F(ProtocolVerb, ThePayloadComesOutOnFailureToo) {
  const json lost = run("tiny-world --set model.source.path=/none.gguf", 4);
  EXPECT_EQ(lost["exit"], 4);
  EXPECT_THAT(lost["failure"]["message"].get<std::string>(), HasSubstr("/none.gguf"));
  EXPECT_EQ(lost["stages"].size(), 0u);
  shell("$PLUMB protocol tiny-world --set model.source.path=/none.gguf --junit out.xml");
  EXPECT_THAT(read_file(path("out.xml")), HasSubstr("tests=\"1\" errors=\"1\""));
}

TEST_F(ProtocolVerb, NothingThatRanIsNoPass) {
  write("empty.jsonl", "");
  const json nothing = run("tiny-world --stages 1 --corpus empty.jsonl", 3);
  EXPECT_EQ(nothing["stages"][0]["verdict"], "NOT RUN");
}

TEST_F(ProtocolVerb, WrongStagesAreUsage) {
  for (const std::string stages : {"0", "7", "1-", "a", "", "1,", "1;2", "1-9"}) {
    const Outcome refused = shell("$PLUMB protocol tiny-world --stages '" + stages + "'");
    EXPECT_EQ(refused.exit, 2) << stages;
    EXPECT_THAT(refused.err, HasSubstr("--stages")) << stages;
  }
}

TEST_F(ProtocolVerb, JUnitHasACaseForEachStage) {
  const Outcome ran = shell(
      "$PLUMB protocol tiny-world --stages 6 --junit out.xml && grep -c '<testcase' out.xml "
      "&& grep -c '<skipped' out.xml");
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("6\n5\n"));
}

}  // namespace
}  // namespace plumbline::test
