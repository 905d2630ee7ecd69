// The resolved config as text, and the schema. Oracle: loading the text again gives the same
// config; the committed schema is what an editor sees.
#include "core/config/show.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/config/spec.h"
#include "tests/unit/config/config_files.h"

namespace plumbline::config {
namespace {

using ::testing::HasSubstr;
using Config_Show = ConfigFiles;

std::string without_origins(const std::string& json) {
  return nlohmann::json::parse(json)["config"].dump(2);
}

TEST_F(Config_Show, YamlGivesEveryValueItsOrigin) {
  const std::string file = write("a.yaml", kMinimal + "sampling: {profile: diff-greedy}\n");
  const std::string yaml = show_yaml(loaded(file, {"kernels.threads=2"}));
  EXPECT_THAT(yaml, HasSubstr("    package: some-model  # " + file + ":2:27\n"));
  EXPECT_THAT(yaml, HasSubstr("  threads: 2  # --set kernels.threads\n"));
  EXPECT_THAT(yaml, HasSubstr("  backend: auto  # default\n"));
  EXPECT_THAT(yaml, HasSubstr("    - greedy  # preset diff-greedy ("));
  EXPECT_EQ(yaml.find("profile"), std::string::npos) << "it is expanded";
}

TEST_F(Config_Show, YamlLoadsAsTheSameConfig) {
  const std::string file = write("a.yaml", kMinimal + R"(kernels:
  overrides: [{op: rope, layers: 3-5, backend: fault}, {op: add, backend: fault}]
  options: {"a b": ["", "null", ~, 1, "1", true, "x: y # z", "\u0001\n", "caf\u00e9"], e: {}, l: [], ll: [[1, [2]], []], lm: [{a: 1, b: {c: 2}}]}
sampling:
  profile: creative
  draw: gumbel
context: {policy: sink_ring, evict_to: 9}
generation: {stop: ["\n", "- ", "'", "\"", "-", "~", "a\tb"], stop_ids: [7], stop_tails: [[1, 2], [3]], ignore_end: true}
)");
  const ResolvedConfig first = loaded(file);
  const std::string again = write("b.yaml", show_yaml(first));
  const ResolvedConfig second = loaded(again);
  EXPECT_EQ(without_origins(show_json(first)), without_origins(show_json(second)));
  EXPECT_EQ(first.config.kernels.options_json, second.config.kernels.options_json);
  EXPECT_EQ(first.config.generation.stop, second.config.generation.stop);
  EXPECT_EQ(second.config.generation.stop_tails, (std::vector<std::vector<int32_t>>{{1, 2}, {3}}));
  EXPECT_TRUE(second.config.generation.ignore_end);
  EXPECT_EQ(second.config.sampling.stages.back().stage, "gumbel");
}

TEST_F(Config_Show, JsonHasTypesAndOrigins) {
  const std::string file = write(
      "a.yaml",
      "plumbline: 1\nmodel: {source: {package: 123}}\nsampling: {profile: precise, seed: 7}\n");
  const auto json = nlohmann::json::parse(show_json(loaded(file)));
  EXPECT_EQ(json["config"]["model"]["source"]["package"], "123") << "a name stays text";
  EXPECT_EQ(json["config"]["sampling"]["seed"], 7);
  EXPECT_EQ(json["config"]["kernels"]["threads"], "auto");
  EXPECT_EQ(json["config"]["generation"]["ignore_end"], false);
  EXPECT_EQ(json["config"]["sampling"]["stages"][0]["temperature"]["t"], 0.3);
  EXPECT_EQ(json["origins"]["sampling.seed"], file + ":3:36");
  EXPECT_EQ(json["origins"]["kernels.backend"], "default");
}

TEST(Config_Schema, CommittedFileIsCurrent) {
  const std::string path = PLUMB_SOURCE_DIR "/configs/schema/pipeline.schema.json";
  if (std::getenv("PLUMB_UPDATE_GOLDEN") != nullptr)
    std::ofstream(path, std::ios::binary) << json_schema();
  std::ostringstream committed;
  committed << std::ifstream(path, std::ios::binary).rdbuf();
  EXPECT_EQ(committed.str(), json_schema())
      << "plumb config schema > configs/schema/pipeline.schema.json";
}

void expect_documented(const Spec& spec, const std::string& path) {
  EXPECT_FALSE(spec.doc.empty()) << path;
  for (const Spec& child : spec.children)
    expect_documented(child, path + "." + std::string(child.name));
}

TEST(Config_Schema, EveryKeyIsDocumented) {
  expect_documented(pipeline_spec(), "");
}

}  // namespace
}  // namespace plumbline::config
