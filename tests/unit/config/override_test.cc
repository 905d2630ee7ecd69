// --set. Oracle: core/config/load.h's description of an override.
#include <gmock/gmock.h>

#include "tests/unit/config/config_files.h"

namespace plumbline::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using Config_Override = ConfigFiles;

TEST_F(Config_Override, ReplacesScalarsListsAndMaps) {
  const std::string file = write("a.yaml", kMinimal + "kernels: {threads: 2}\n");
  const ResolvedConfig resolved =
      loaded(file, {"kernels.threads=4", "generation.stop=[END, \"a b\"]",
                    "kernels.options={a: {b: 1}}", "kernels.options.c=2", "sampling.seed=9"});
  EXPECT_EQ(resolved.config.kernels.threads, 4u);
  EXPECT_THAT(resolved.config.generation.stop, ElementsAre("END", "a b"));
  EXPECT_EQ(resolved.config.kernels.options_json, R"({"a":{"b":1},"c":2})");
  EXPECT_EQ(resolved.origin("kernels.threads"), "--set kernels.threads");
}

TEST_F(Config_Override, ReachesIntoLists) {
  const std::string file =
      write("a.yaml", kMinimal + "sampling: {stages: [{top_p: {p: 0.9}}, cdf]}\n");
  const auto& stages = loaded(file, {"sampling.stages.0.top_p.p=0.5", "sampling.stages.1=gumbel"})
                           .config.sampling.stages;
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_EQ(stages[0].params_json, R"({"p":0.5})");
  EXPECT_EQ(stages[1].stage, "gumbel");
}

TEST_F(Config_Override, UndoesTheOtherWayOfSayingIt) {
  const std::string file = write("a.yaml", kMinimal + "sampling: {stages: [greedy]}\n");
  const std::string sha256(64, 'b');
  const PipelineConfig config =
      loaded(file, {"model.source.sha256=" + sha256, "model.source.path=m.gguf",
                    "sampling.profile=balanced"})
          .config;
  EXPECT_EQ(config.model.source.package, "");
  EXPECT_EQ(config.model.source.path, "m.gguf");
  EXPECT_EQ(config.model.source.sha256, sha256);
  EXPECT_EQ(config.sampling.profile, "balanced");
}

TEST_F(Config_Override, DroppedKeysOfFilesCountForNothing) {
  const std::string file =
      write("a.yaml", kMinimal + "sampling: {stages: [greedy], seed: 9}\nkernels: {threads: 2}\n");
  const auto loaded = load_config({.file = file,
                                   .overrides = {"sampling.stages=[gumbel]"},
                                   .dropped = {"sampling.stages", "sampling.seed", "no.such.key"}});
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->config.sampling.stages.front().stage, "gumbel");
  EXPECT_NE(loaded->config.sampling.seed, 9u);
  EXPECT_EQ(loaded->config.kernels.threads, 2u);
}

TEST_F(Config_Override, LastOneWins) {
  EXPECT_EQ(loaded(write("a.yaml", kMinimal), {"sampling.seed=1", "sampling.seed=2"})
                .config.sampling.seed,
            2u);
}

struct Mistake {
  std::vector<std::string> overrides;
  std::string message;
};

TEST_F(Config_Override, MistakesNameTheOverride) {
  const std::string file = write("a.yaml", kMinimal + "sampling: {stages: [greedy]}\n");
  const std::vector<Mistake> mistakes{
      {{"sampling.seed"}, "--set sampling.seed: expected KEY=VALUE, such as sampling.seed=3"},
      {{"=3"}, "--set =3: expected KEY=VALUE, such as sampling.seed=3"},
      {{"extends=b.yaml"},
       "--set extends: what a file extends is said in the file; name the other file instead"},
      {{"a..b=3"}, "--set a..b=3: expected KEY=VALUE, such as sampling.seed=3"},
      {{"sampling.sed=3"},
       "--set sampling.sed: unknown key \"sed\" in sampling, expected one of profile, stages, "
       "draw, tune, breakers, seed; did you "
       "mean \"seed\"?"},
      {{"sampling.seed=x"},
       "--set sampling.seed: sampling.seed: \"x\", expected an integer from 0 to 2^64-1"},
      {{"sampling.seed="},
       "--set sampling.seed: sampling.seed: nothing, expected an integer from 0 to 2^64-1"},
      {{"kernels.options=[1"},
       "--set kernels.options: a key that is not text, or a bracket that is not closed"},
      {{"sampling.stages.1=cdf"},
       "--set sampling.stages.1: index 1, but the list sampling.stages has 1 entries"},
      {{"generation.stop.0=x"},
       "--set generation.stop.0: generation.stop is no list, which index 0 expects"},
      {{"sampling.stages.0.p=1"},
       "--set sampling.stages.0.p: sampling.stages.0 is \"greedy\", which has no \"p\""},
      {{"sampling.profile=balanced", "sampling.stages=[greedy]"},
       "--set sampling.stages: sampling.stages beside sampling.profile (--set sampling.profile), "
       "expected one of the "
       "two"},
  };
  for (const Mistake& mistake : mistakes)
    EXPECT_EQ(refused(file, mistake.overrides), mistake.message);
}

}  // namespace
}  // namespace plumbline::config
