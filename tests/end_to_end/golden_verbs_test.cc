// golden record and golden verify, from outside, on the model of the repository.
// Oracle: bits that a second run must give again; and for what must be refused, files that were
// changed on purpose.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/end_to_end/plumb_command.h"

namespace plumbline::test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class GoldenVerbs : public PlumbCommand {
 protected:
  GoldenVerbs() {
    write("in.gguf", tiny_world());
    write("config.yaml",
          "plumbline: 1\nmodel:\n  source: {path: in.gguf}\nsampling: {profile: diff-greedy}\n");
  }
  void record(const std::string& more = "") const {
    const Outcome made = shell(
        "$PLUMB golden record config.yaml -p 'Mara lives in' --tokens 12 "
        "-o kept " +
        more);
    ASSERT_EQ(made.exit, 0) << made.err;
  }
  Outcome verify(const std::string& more = "") const {
    return shell("$PLUMB golden verify kept config.yaml " + more);
  }
  json bundle() const { return json::parse(read_file(path("kept/bundle.json"))); }
  std::map<std::string, std::string> verdicts(const Outcome& ran) const {
    std::map<std::string, std::string> found;
    const json payload = json::parse(ran.out, nullptr, false);
    for (const json& one : payload["findings"]) found[one["what"]] = one["verdict"];
    return found;
  }
};

TEST_F(GoldenVerbs, WhatWasRecordedIsGivenAgainBitForBit) {
  record();
  EXPECT_THAT(files(), ElementsAre("config.yaml", "in.gguf", "kept"));
  const Outcome same = verify("--strict --json");
  EXPECT_EQ(same.exit, 0) << same.err << same.out;
  EXPECT_THAT(verdicts(same), ElementsAre(std::pair("prompt: first-step logits", "MATCH"),
                                          std::pair("prompt: greedy ids", "MATCH"),
                                          std::pair("prompt: ids of the prompt", "MATCH"),
                                          std::pair("prompt: top 20", "MATCH")));
  EXPECT_EQ(json::parse(same.out)["is_independent"], false);
  EXPECT_THAT(verify().err, HasSubstr("proves sameness over time"));
}

TEST_F(GoldenVerbs, AForeignEnginesAnswersAreItsOwn) {
  write("theirs.yaml",
        "plumbline: 1\nmodel:\n  source: {path: in.gguf}\nrunner: {name: ./good.py}\n");
  const Outcome made = shell(
      "ln -s $SOURCE/tests/unit/runner/fake_runner.py good.py; FAKE_VOCABULARY=512 $PLUMB golden "
      "record theirs.yaml -p 'Mara lives in' --tokens 4 -o kept");
  ASSERT_EQ(made.exit, 0) << made.err;
  EXPECT_EQ(bundle()["made_by"]["engine"], "fake");
  EXPECT_EQ(bundle()["made_by"]["version"], "1.2.3");
  EXPECT_EQ(bundle()["identity"]["numerics"], "fake");
  // (7 * (365 + 334 + 288) + 3 * v) mod 13 is 12 for v = 2, the first of its kind.
  EXPECT_EQ(bundle()["prompts"][0]["top"][0], json({{"id", 2}, {"logit", 12}}));
  const Outcome seen = verify("--json");
  EXPECT_EQ(seen.exit, 1) << seen.err;
  EXPECT_EQ(json::parse(seen.out)["is_independent"], true);
  // It was given ids: that they are ours again proves nothing.
  EXPECT_THAT(bundle()["ids_made_by"].get<std::string>(), HasSubstr("plumbline "));
  EXPECT_EQ(verdicts(seen)["prompt: ids of the prompt"], "NOT RUN");
  std::string other = tiny_world();
  other.back() ^= 1;
  write("in.gguf", other);
  const Outcome refused = verify();
  EXPECT_EQ(refused.exit, 4);
  EXPECT_THAT(refused.err, HasSubstr("another model"));
}

TEST_F(GoldenVerbs, ThreadsAndBatchesChangeNothing) {
  record("--set kernels.threads=1");
  const Outcome same = verify("--strict --set kernels.threads=2 --set context.prefill_chunk=3");
  EXPECT_EQ(same.exit, 0) << same.out;
  EXPECT_THAT(same.err, HasSubstr("config: context.prefill_chunk: recorded"));
}

TEST_F(GoldenVerbs, AnotherBackendIsWhatIsTested) {
  record();
  const Outcome other = verify("--json --set kernels.backend=plumb.cpu.scalar");
  EXPECT_EQ(other.exit, 0) << other.err << other.out;
  EXPECT_THAT(json::parse(other.out)["notes"].dump(), HasSubstr("kernels: recorded with"));
}

TEST_F(GoldenVerbs, OtherWeightsAreRefusedByBothHashes) {
  record();
  std::string changed = tiny_world();
  changed.back() = static_cast<char>(changed.back() ^ 1);
  write("in.gguf", changed);
  const Outcome refused = verify();
  EXPECT_EQ(refused.exit, 4);
  EXPECT_THAT(refused.out, testing::IsEmpty());
  EXPECT_THAT(refused.err, HasSubstr("weights: found sha256 "));
  EXPECT_THAT(refused.err, HasSubstr(bundle()["identity"]["weights"]["sha256"].get<std::string>()));
}

TEST_F(GoldenVerbs, AnotherTemplateIsRefused) {
  record();
  write("other.jinja", "{{ messages[0].content }}");
  const Outcome by_hash = verify("--set template.path=$PWD/other.jinja");
  EXPECT_EQ(by_hash.exit, 4) << by_hash.err;
  EXPECT_THAT(by_hash.err, HasSubstr("chat template: found sha256 "));
}

TEST_F(GoldenVerbs, EveryDifferenceIsFound) {
  record();
  const json untouched = bundle();
  struct Case {
    const char* pointer;
    json value;
    const char* finding;
  };
  const json& prompt = untouched["prompts"][0];
  const Case cases[] = {
      {"/prompts/0/text", "Mara lives at", "prompt: ids of the prompt"},
      {"/prompts/0/greedy/ids/5", prompt["greedy"]["ids"][5].get<int>() == 3 ? 4 : 3,
       "prompt: greedy ids"},
      {"/prompts/0/top/0/logit", prompt["top"][0]["logit"].get<double>() + 1e-3, "prompt: top 20"},
      {"/prompts/0/top/3/id", prompt["top"][4]["id"], "prompt: top 20"},
  };
  for (const Case& one : cases) {
    json changed = untouched;
    changed[json::json_pointer(one.pointer)] = one.value;
    write("kept/bundle.json", changed.dump());
    const Outcome differs = verify("--json");
    EXPECT_EQ(differs.exit, 1) << one.pointer << differs.err;
    EXPECT_EQ(verdicts(differs).size(), 4u);
    for (const auto& [what, verdict] : verdicts(differs)) {
      EXPECT_EQ(verdict, what == one.finding ? "WRONG" : "MATCH") << one.pointer << ": " << what;
    }
  }
}

TEST_F(GoldenVerbs, BrokenFoldersAreClearErrors) {
  record();
  const json untouched = bundle();
  const std::string logits = untouched["prompts"][0]["logits"]["file"];
  const auto expect_refused = [&](const std::string& expected) {
    const Outcome refused = verify();
    EXPECT_EQ(refused.exit, 4) << refused.out;
    EXPECT_THAT(refused.err, HasSubstr(expected));
    EXPECT_THAT(refused.out, testing::IsEmpty());
  };
  json changed = untouched;
  changed["prompts"][0]["ids"][0] = 2000000000;
  write("kept/bundle.json", changed.dump());
  expect_refused("outside the model's vocabulary");
  write("kept/bundle.json", std::string(100000, '['));
  expect_refused("nested deeper");
  write("kept/bundle.json", untouched.dump());
  const std::string row = read_file(path("kept/" + logits));
  write("kept/" + logits, row.substr(0, row.size() / 2));
  expect_refused("fewer values");
  std::filesystem::remove(path("kept/" + logits));
  expect_refused("no such file");
  std::filesystem::create_symlink(path("in.gguf"), path("kept/" + logits));
  expect_refused("found a link");
  std::filesystem::remove_all(path("kept"));
  expect_refused("no such file");
}

TEST_F(GoldenVerbs, NothingIsComparedWithoutPrompts) {
  record();
  json empty = bundle();
  empty["prompts"] = json::array();
  write("kept/bundle.json", empty.dump());
  const Outcome nothing = verify();
  EXPECT_EQ(nothing.exit, 3);
  EXPECT_THAT(nothing.out, HasSubstr("nothing was compared"));
  write("none.jsonl", "\n\n");
  EXPECT_EQ(shell("$PLUMB golden record config.yaml --prompts none.jsonl -o other").exit, 3);
  EXPECT_THAT(files(), Not(testing::Contains("other")));
}

TEST_F(GoldenVerbs, RecordNeverChangesWhatIsThere) {
  write("kept", "mine");
  const Outcome refused = shell("$PLUMB golden record config.yaml -p x -o kept");
  EXPECT_EQ(refused.exit, 2);
  EXPECT_EQ(read_file(path("kept")), "mine");
  EXPECT_EQ(shell("$PLUMB golden record config.yaml -p x -o none/kept").exit, 4);
}

TEST_F(GoldenVerbs, PromptsHaveNamesAndBytes) {
  write("prompts.jsonl", "{\"name\": \"a\", \"text\": \"Mara\"}\n{\"text\": \"Tomas\"}\n");
  const Outcome made =
      shell("$PLUMB golden record config.yaml --prompts prompts.jsonl --tokens 0 --top 3 -o kept");
  ASSERT_EQ(made.exit, 0) << made.err;
  EXPECT_EQ(bundle()["prompts"][0]["name"], "a");
  EXPECT_EQ(bundle()["prompts"][1]["name"], "line 2");
  EXPECT_EQ(bundle()["prompts"][1]["top"].size(), 3u);
  const Outcome same = verify("--json");
  EXPECT_EQ(same.exit, 0) << same.err;
  EXPECT_EQ(verdicts(same)["a: greedy ids"], "NOT RUN");
}

TEST_F(GoldenVerbs, ABundleNamesNoConfigThatWouldLoadLibraries) {
  record();
  const Outcome no_config = shell("$PLUMB golden verify kept");
  EXPECT_EQ(no_config.exit, 2);
  EXPECT_THAT(no_config.err, HasSubstr("name the CONFIG"));
  json shipped = bundle();
  shipped["made_by"]["config"] = "tiny-world";
  write("kept/bundle.json", shipped.dump());
  EXPECT_EQ(shell("$PLUMB golden verify kept").exit, 0);
}

}  // namespace
}  // namespace plumbline::test
