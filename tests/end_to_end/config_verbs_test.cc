// config show, check and schema, and lint. Oracle: core/config's golden texts, and the law that a
// shown config is itself a config.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "tests/end_to_end/plumb_command.h"

namespace plumbline::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ConfigVerbs : public PlumbCommand {};

TEST_F(ConfigVerbs, EveryShippedConfigIsRight) {
  for (const auto& file : fs::directory_iterator(PLUMB_SOURCE_DIR "/configs/pipelines")) {
    const Outcome checked = shell("$PLUMB config check " + file.path().stem().string());
    EXPECT_EQ(checked.exit, 0) << file.path() << ": " << checked.err;
  }
}

TEST_F(ConfigVerbs, WhatShowPrintsIsTheSameConfig) {
  const Outcome shown = shell("$PLUMB config show gemma3 --set kernels.threads=1 > again.yaml");
  ASSERT_EQ(shown.exit, 0) << shown.err;
  EXPECT_THAT(read_file(path("again.yaml")), HasSubstr("--set"));
  const Outcome first = shell("$PLUMB config show gemma3 --set kernels.threads=1 --json");
  const Outcome again = shell("$PLUMB config show again.yaml --json");
  ASSERT_EQ(again.exit, 0) << again.err;
  EXPECT_EQ(nlohmann::json::parse(again.out)["config"], nlohmann::json::parse(first.out)["config"]);
}

TEST_F(ConfigVerbs, TheSchemaIsThePublishedOne) {
  EXPECT_EQ(shell("$PLUMB config schema").out,
            read_file(PLUMB_SOURCE_DIR "/configs/schema/pipeline.schema.json"));
}

TEST_F(ConfigVerbs, EveryBrokenConfigIsRefusedWithItsMistakes) {
  size_t n_checked = 0;
  for (const auto& file : fs::directory_iterator(PLUMB_SOURCE_DIR "/configs/invalid")) {
    if (file.path().extension() != ".yaml") continue;
    const std::string name = file.path().stem().string();
    const Outcome checked =
        shell("cd $SOURCE/configs/invalid && $PLUMB config check " + name + ".yaml");
    EXPECT_EQ(checked.exit, 2) << name << ": " << checked.err;
    EXPECT_EQ(checked.err, "plumb: error: " + read_file(PLUMB_SOURCE_DIR "/configs/invalid/" +
                                                        name + ".error.txt"));
    ++n_checked;
  }
  EXPECT_GE(n_checked, 20u);
}

TEST_F(ConfigVerbs, LintSaysWhereAndWhyAndWhatInstead) {
  const std::string head = "plumbline: 1\nmodel: {source: {package: any}}\nsampling:\n  stages:\n";
  write("a.yaml", head + "    - top_k: {k: 40}\n    - draw\n");
  const Outcome warned = shell("$PLUMB lint a.yaml");
  EXPECT_EQ(warned.exit, 1) << warned.err;
  EXPECT_THAT(warned.out, testing::StartsWith("a.yaml:5:7: warning: top-k-without-min-p: "
                                              "top_k {\"k\":40}\n  why: k is the same"));
  EXPECT_THAT(warned.out, HasSubstr("\n  instead: min_p: {p: 0.05}"));
  const auto report = nlohmann::json::parse(shell("$PLUMB lint a.yaml --json").out);
  EXPECT_EQ(report["n_warnings"], 1);
  EXPECT_EQ(report["findings"][0]["where"], "a.yaml:5:7");
  EXPECT_EQ(report["findings"][0]["key"], "sampling.stages.0");

  write("b.yaml", head + "    - top_p: {p: 1}\n    - draw\n");
  const Outcome noted = shell("$PLUMB lint b.yaml");
  EXPECT_EQ(noted.exit, 0);
  EXPECT_THAT(noted.out, HasSubstr("b.yaml:5:7: note: idle-stage"));

  const Outcome clean = shell("$PLUMB lint b.yaml --set 'sampling.stages=[draw]'");
  EXPECT_EQ(clean.exit, 0);
  EXPECT_EQ(clean.out, "");
  EXPECT_EQ(shell("$PLUMB lint b.yaml --set sampling.stages=7").exit, 2);
  EXPECT_THAT(shell("$PLUMB lint --rules").out, HasSubstr("\nunreachable-stop (warning)\n"));
}

TEST_F(ConfigVerbs, NoShippedConfigHasAWarning) {
  for (const auto& file : fs::directory_iterator(PLUMB_SOURCE_DIR "/configs/pipelines")) {
    const std::string name = file.path().stem().string();
    const Outcome checked = shell("$PLUMB lint " + name);
    EXPECT_EQ(checked.exit, 0) << name << ": " << checked.out << checked.err;
  }
}

TEST_F(ConfigVerbs, AMistakeInAnOverrideNamesTheOption) {
  const Outcome checked = shell("$PLUMB config check tiny-world --set kernels.bakend=auto");
  EXPECT_EQ(checked.exit, 2);
  EXPECT_THAT(checked.err, HasSubstr("--set"));
  EXPECT_THAT(checked.err, HasSubstr("did you mean \"backend\"?"));
}

TEST_F(ConfigVerbs, EveryVerbHelpsWithAnExample) {
  for (const char* verb :
       {"run", "tokenize", "render", "logits", "sample", "bench", "plugins list", "plugins inspect",
        "plugins doctor", "model list", "model pull", "model inspect", "model quantize",
        "config show", "config check", "config schema"}) {
    const Outcome help = shell(std::string("$PLUMB ") + verb + " --help");
    EXPECT_EQ(help.exit, 0) << verb;
    EXPECT_THAT(help.out, HasSubstr("Example")) << verb;
    EXPECT_THAT(help.err, testing::IsEmpty()) << verb;
  }
}

TEST_F(ConfigVerbs, MistakesOfUsageExitWith2) {
  for (const char* line : {"", "rum", "run --no-such-option", "logits tiny-world --ids 1,x",
                           "bench tiny-world --threads 0", "bench tiny-world --paced --threads 1,2",
                           "run tiny-world --set nonsense -p x"}) {
    const Outcome said = shell(std::string("$PLUMB ") + line);
    EXPECT_EQ(said.exit, 2) << line << ": " << said.err;
    EXPECT_THAT(said.out, testing::IsEmpty()) << line;
    EXPECT_THAT(said.err, testing::Not(testing::IsEmpty())) << line;
  }
}

}  // namespace
}  // namespace plumbline::test
