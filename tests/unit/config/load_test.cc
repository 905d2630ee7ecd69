// What a right config means. Oracle: the texts of the configs themselves, read by a person.
#include "core/config/load.h"

#include <gmock/gmock.h>

#include <random>

#include "core/config/show.h"
#include "tests/unit/config/config_files.h"

namespace plumbline::config {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Config_Load = ConfigFiles;

TEST_F(Config_Load, MinimalConfigHasTheDocumentedDefaults) {
  const PipelineConfig config = loaded(write("a.yaml", kMinimal)).config;
  EXPECT_EQ(config.mode, Mode::kLab);
  EXPECT_EQ(config.model.loader, "auto");
  EXPECT_EQ(config.model.source.package, "some-model");
  EXPECT_EQ(config.model.source.path, "");
  EXPECT_EQ(config.kernels.backend, "auto");
  EXPECT_EQ(config.kernels.activations, Activations::kQ8);
  EXPECT_EQ(config.kernels.kv, KvFormat::kF32);
  EXPECT_EQ(config.kernels.threads, std::nullopt);
  EXPECT_THAT(config.kernels.overrides, IsEmpty());
  EXPECT_EQ(config.kernels.options_json, "{}");
  EXPECT_FALSE(config.runner.is_wanted());
  EXPECT_EQ(config.tokenizer.plugin, "auto");
  EXPECT_EQ(config.tokenizer.special, Special::kParse);
  EXPECT_EQ(config.chat_template.plugin, "jinja");
  EXPECT_EQ(config.chat_template.undefined, "strict");
  EXPECT_EQ(config.sampling.profile, "balanced");
  EXPECT_EQ(config.sampling.seed, 1u);
  EXPECT_EQ(config.context.length, std::nullopt);
  EXPECT_EQ(config.context.policy, ContextPolicy::kTurnAware);
  EXPECT_EQ(config.context.reserve_output, 256u);
  EXPECT_EQ(config.context.prefill_chunk, std::nullopt);
  EXPECT_EQ(config.generation.max_tokens, 128u);
  EXPECT_THAT(config.generation.stop, IsEmpty());
  EXPECT_THAT(config.generation.stop_ids, IsEmpty());
  EXPECT_THAT(config.generation.stop_tails, IsEmpty());
  EXPECT_FALSE(config.generation.ignore_end);
  EXPECT_EQ(config.context.n_sinks, 0u);
  EXPECT_EQ(config.context.evict_to, std::nullopt);
  EXPECT_EQ(config.context.history_ids, HistoryIds::kStored);
  EXPECT_EQ(config.context.when_busy, WhenBusy::kReject);
  EXPECT_EQ(config.context.kv_budget_mib, std::nullopt);
  EXPECT_EQ(config.parser.plugin, "auto");
  EXPECT_EQ(config.parser.options_json, "{}");
  EXPECT_THAT(config.plugins.paths, IsEmpty());
}

TEST_F(Config_Load, ARunnerIsANameOrAPath) {
  const RunnerConfig named =
      loaded(
          write("named.yaml", std::string(kMinimal) +
                                  "runner: {name: transformers, timeout_s: 5, options: {a: 1}}\n"))
          .config.runner;
  EXPECT_TRUE(named.is_wanted());
  EXPECT_EQ(named.name, "transformers");
  EXPECT_EQ(named.python, "python3");
  EXPECT_EQ(named.map, "auto");
  EXPECT_EQ(named.timeout_s, 5u);
  EXPECT_EQ(named.options_json, "{\"a\":1}");
  const std::string file =
      write("path.yaml", std::string(kMinimal) +
                             "runner: {name: ./engine.py, python: bin/python, map: ours.yaml}\n");
  const RunnerConfig path = loaded(file).config.runner;
  EXPECT_THAT(path.name, EndsWith("/engine.py"));
  EXPECT_THAT(path.name, testing::StartsWith("/"));
  EXPECT_THAT(path.python, EndsWith("/bin/python"));
  EXPECT_THAT(path.map, EndsWith("/ours.yaml"));
  EXPECT_EQ(path.options_json, "{}");
}

TEST_F(Config_Load, EveryKeyReachesItsField) {
  const std::string sha256(64, 'a');
  const std::string file = write("full.yaml", R"(plumbline: 1
mode: ship
model:
  loader: gguf
  source: {path: weights/m.gguf, sha256: )" + sha256 +
                                                  R"(}
kernels:
  backend: reference
  activations: f32
  kv: f16
  threads: 3
  overrides:
    - {op: rope, layers: 3-5, backend: plumb.cpu.avx2}
    - {op: attend, backend: fault}
    - {op: rms_norm, layers: 7, backend: fault}
  options: {scale: 0.5, names: [a, "1"], deep: {on: true, off: null}}
tokenizer:
  plugin: bpe
  special: off
  options: {n: 0x10}
template: {plugin: other, undefined: semi_strict}
sampling:
  stages:
    - top_k: {k: 40}
    - top_p: {p: 0.9}
      plugin: plumb.samplers.core
    - gumbel
  seed: 18446744073709551615
context: {length: 4096, policy: sink_ring, sinks: 3, evict_to: 2048, reserve_output: 0, history_ids: retokenise, when_busy: queue, kv_budget_mib: 64, prefill_chunk: 7}
generation: {max_tokens: 5, stop: ["\n\n", END], stop_ids: [0, 2147483647], stop_tails: [[1, 2], [3]]}
parser: {plugin: none, options: {a: [1]}}
plugins: {paths: [mine, /opt/theirs]}
)");
  const PipelineConfig config = loaded(file).config;
  EXPECT_EQ(config.mode, Mode::kShip);
  EXPECT_EQ(config.model.loader, "gguf");
  EXPECT_EQ(config.model.source.path, (folder_ / "weights/m.gguf").string());
  EXPECT_EQ(config.model.source.sha256, sha256);
  EXPECT_EQ(config.kernels.backend, "reference");
  EXPECT_EQ(config.kernels.activations, Activations::kF32);
  EXPECT_EQ(config.kernels.kv, KvFormat::kF16);
  EXPECT_EQ(config.kernels.threads, 3u);
  ASSERT_EQ(config.kernels.overrides.size(), 3u);
  EXPECT_EQ(config.kernels.overrides[0].op, "rope");
  EXPECT_EQ(config.kernels.overrides[0].layers.first, 3u);
  EXPECT_EQ(config.kernels.overrides[0].layers.last, 5u);
  EXPECT_EQ(config.kernels.overrides[0].backend, "plumb.cpu.avx2");
  EXPECT_TRUE(config.kernels.overrides[1].layers.is_all());
  EXPECT_TRUE(config.kernels.overrides[2].layers.contains(7));
  EXPECT_FALSE(config.kernels.overrides[2].layers.contains(8));
  EXPECT_EQ(config.kernels.options_json,
            R"({"deep":{"off":null,"on":true},"names":["a","1"],"scale":0.5})");
  EXPECT_EQ(config.tokenizer.plugin, "bpe");
  EXPECT_EQ(config.tokenizer.special, Special::kOff);
  EXPECT_EQ(config.tokenizer.options_json, R"({"n":16})");
  EXPECT_EQ(config.chat_template.plugin, "other");
  EXPECT_EQ(config.chat_template.undefined, "semi_strict");
  EXPECT_EQ(config.sampling.profile, "");
  ASSERT_EQ(config.sampling.stages.size(), 3u);
  EXPECT_EQ(config.sampling.stages[0].stage, "top_k");
  EXPECT_EQ(config.sampling.stages[0].plugin, "auto");
  EXPECT_EQ(config.sampling.stages[0].params_json, R"({"k":40})");
  EXPECT_EQ(config.sampling.stages[1].stage, "top_p");
  EXPECT_EQ(config.sampling.stages[1].plugin, "plumb.samplers.core");
  EXPECT_EQ(config.sampling.stages[1].params_json, R"({"p":0.9})");
  EXPECT_EQ(config.sampling.stages[2].stage, "gumbel");
  EXPECT_EQ(config.sampling.stages[2].params_json, "{}");
  EXPECT_EQ(config.sampling.seed, UINT64_MAX);
  EXPECT_EQ(config.context.length, 4096u);
  EXPECT_EQ(config.context.policy, ContextPolicy::kSinkRing);
  EXPECT_EQ(config.context.n_sinks, 3u);
  EXPECT_EQ(config.context.evict_to, 2048u);
  EXPECT_EQ(config.context.reserve_output, 0u);
  EXPECT_EQ(config.context.history_ids, HistoryIds::kRetokenise);
  EXPECT_EQ(config.context.when_busy, WhenBusy::kQueue);
  EXPECT_EQ(config.context.kv_budget_mib, 64u);
  EXPECT_EQ(config.context.prefill_chunk, 7u);
  EXPECT_EQ(config.generation.max_tokens, 5u);
  EXPECT_THAT(config.generation.stop, ElementsAre("\n\n", "END"));
  EXPECT_THAT(config.generation.stop_ids, ElementsAre(0, 2147483647));
  EXPECT_THAT(config.generation.stop_tails, ElementsAre(ElementsAre(1, 2), ElementsAre(3)));
  EXPECT_EQ(config.parser.plugin, "none");
  EXPECT_EQ(config.parser.options_json, R"({"a":[1]})");
  EXPECT_THAT(config.plugins.paths, ElementsAre((folder_ / "mine").string(), "/opt/theirs"));
}

TEST_F(Config_Load, EveryPolicyReachesItsField) {
  const std::string file = write("policies.yaml", std::string(kMinimal));
  const auto context = [&](const std::string& policy) {
    return loaded(file, {"context.policy=" + policy}).config.context;
  };
  EXPECT_EQ(context("turn_aware").policy, ContextPolicy::kTurnAware);
  EXPECT_EQ(context("full").policy, ContextPolicy::kFull);
  EXPECT_EQ(context("ring").policy, ContextPolicy::kRing);
  EXPECT_EQ(context("ring").n_sinks, 0u);
  EXPECT_EQ(context("sink_ring").policy, ContextPolicy::kSinkRing);
  EXPECT_EQ(context("sink_ring").n_sinks, kDefaultSinks);
  EXPECT_TRUE(loaded(file, {"generation.ignore_end=true"}).config.generation.ignore_end);
}

TEST_F(Config_Load, ProfileBecomesItsStagesWithTheDrawThatIsChosen) {
  const std::string file =
      write("a.yaml", kMinimal + "sampling: {profile: precise, draw: gumbel}\n");
  const ResolvedConfig resolved = loaded(file);
  const auto& stages = resolved.config.sampling.stages;
  ASSERT_EQ(stages.size(), 3u);
  EXPECT_EQ(stages[0].stage, "temperature");
  EXPECT_EQ(stages[0].params_json, R"({"t":0.3})");
  EXPECT_EQ(stages[1].stage, "min_p");
  EXPECT_EQ(stages[1].params_json, R"({"p":0.1})");
  EXPECT_EQ(stages[2].stage, "gumbel");
  EXPECT_EQ(resolved.config.sampling.profile, "precise");
  EXPECT_THAT(resolved.tree.at("sampling.stages")->items[0].origin.text(),
              ::testing::AllOf(HasSubstr("preset precise ("), HasSubstr("precise.yaml:5:7)")));
}

TEST_F(Config_Load, TunedParametersTakeTheirPlaceInTheProfile) {
  const std::string file = write("a.yaml", kMinimal +
                                               "sampling: {profile: tinyloop001, tune: {top_k: {k: "
                                               "9, ties: all}, cdf: {x: 1}, grammar_mask: {}}}\n");
  const ResolvedConfig resolved = loaded(file, {"sampling.tune.temperature.t=0.5"});
  const auto& stages = resolved.config.sampling.stages;
  ASSERT_EQ(stages.size(), 6u);
  EXPECT_EQ(stages[1].params_json, "{}");
  EXPECT_EQ(stages[2].params_json, R"({"greedy_below":0.01,"t":0.5})");
  EXPECT_EQ(stages[3].params_json, R"({"k":9,"ties":"all"})");
  EXPECT_EQ(stages[5].params_json, R"({"x":1})");  // the draw that stands there
  const Value& temperature = *resolved.tree.at("sampling.stages")->items[2].find("temperature");
  EXPECT_EQ(temperature.find("t")->origin.text(), "--set sampling.tune.temperature.t");
  EXPECT_THAT(temperature.find("greedy_below")->origin.text(), HasSubstr("preset tinyloop001"));
  // What was resolved can be loaded again.
  EXPECT_EQ(resolved.tree.at("sampling.tune"), nullptr);
}

TEST_F(Config_Load, BreakersAreLlamaCppsUnlessTheConfigSaysOthers) {
  const std::string file = write("a.yaml", kMinimal);
  EXPECT_THAT(loaded(file).config.sampling.breakers, ElementsAre("\n", ":", "\"", "*"));
  EXPECT_THAT(loaded(file, {"sampling.breakers=[;]"}).config.sampling.breakers, ElementsAre(";"));
  EXPECT_THAT(loaded(file, {"sampling.breakers=[]"}).config.sampling.breakers, ElementsAre());
}

TEST_F(Config_Load, EveryPresetIsAConfig) {
  for (const char* name : {"balanced", "creative", "diff-greedy", "hf", "llamacpp", "precise",
                           "slm000", "structured", "tinyloop001", "tinyrustlm-abi"}) {
    const std::string file = write("a.yaml", kMinimal + "sampling: {profile: " + name + "}\n");
    EXPECT_FALSE(loaded(file).config.sampling.stages.empty()) << name;
    loaded(file, {"mode=ship"});  // as far as its stages go
  }
}

TEST_F(Config_Load, ExtendsMergesMapsByKeyAndReplacesLists) {
  write("base.yaml",
        kMinimal + "kernels: {threads: 2, backend: cpu}\ngeneration: {stop: [a, b]}\n");
  const std::string file = write("sub/a.yaml",
                                 "plumbline: 1\nextends: ../base.yaml\nkernels: {backend: "
                                 "reference}\ngeneration: {stop: [c]}\n");
  const ResolvedConfig resolved = loaded(file);
  EXPECT_EQ(resolved.config.kernels.threads, 2u);
  EXPECT_EQ(resolved.config.kernels.backend, "reference");
  EXPECT_THAT(resolved.config.generation.stop, ElementsAre("c"));
  EXPECT_THAT(resolved.origin("kernels.threads"), EndsWith("base.yaml:3:20"));
  EXPECT_THAT(resolved.origin("kernels.backend"), EndsWith("sub/a.yaml:3:20"));
  EXPECT_EQ(resolved.origin("kernels.kv"), "default");
}

TEST_F(Config_Load, PathsAreRelativeToTheFileThatStatesThem) {
  write("base/base.yaml", "plumbline: 1\nmodel: {source: {path: m.gguf}}\n");
  const std::string file = write("a.yaml", "plumbline: 1\nextends: base/base.yaml\n");
  EXPECT_EQ(loaded(file).config.model.source.path, (folder_ / "base/m.gguf").string());
}

TEST_F(Config_Load, LaterLayerUndoesTheOtherWayOfSayingIt) {
  write("base.yaml", "plumbline: 1\nmodel: {source: {path: m.gguf, sha256: " +
                         std::string(64, 'a') + "}}\nsampling: {stages: [greedy]}\n");
  const std::string file =
      write("a.yaml",
            "plumbline: 1\nextends: base.yaml\nmodel: {source: {package: other}}\n"
            "sampling: {profile: creative}\n");
  const PipelineConfig config = loaded(file).config;
  EXPECT_EQ(config.model.source.package, "other");
  EXPECT_EQ(config.model.source.path, "");
  EXPECT_EQ(config.model.source.sha256, "");
  EXPECT_EQ(config.sampling.profile, "creative");
  EXPECT_EQ(config.sampling.stages.size(), 3u);
}

TEST_F(Config_Load, LongChainOfExtendsIsRefused) {
  std::string file = write("0.yaml", kMinimal);
  for (int i = 1; i <= 20; ++i) {
    file = write(std::to_string(i) + ".yaml",
                 "plumbline: 1\nextends: " + std::to_string(i - 1) + ".yaml\n");
  }
  EXPECT_THAT(refused(file), HasSubstr("expected a chain of at most 16 files"));
}

TEST_F(Config_Load, MissingFileIsNotFound) {
  for (const std::string& path : {(folder_ / "none.yaml").string(), folder_.string()}) {
    const auto resolved = load_config(request(path));
    ASSERT_FALSE(resolved.has_value());
    EXPECT_EQ(resolved.error().code, PLUMB_NOT_FOUND);
    EXPECT_THAT(resolved.error().message, HasSubstr(path));
  }
}

TEST_F(Config_Load, EmptyPresetFolderSaysWhereItLooked) {
  const auto resolved = load_config({write("a.yaml", kMinimal), {}, {folder_ / "nothing-here"}});
  ASSERT_FALSE(resolved.has_value());
  EXPECT_THAT(resolved.error().message, HasSubstr("nothing-here"));
}

TEST_F(Config_Load, PresetThatSaysMoreThanStagesIsRefused) {
  write("presets/odd.yaml", "plumbline: 1\nsampling: {stages: [greedy], seed: 4}\n");
  const auto resolved = load_config(
      {write("a.yaml", kMinimal + "sampling: {profile: odd}\n"), {}, {folder_ / "presets"}});
  ASSERT_FALSE(resolved.has_value());
  EXPECT_THAT(resolved.error().message,
              HasSubstr("odd.yaml: a preset holds plumbline and sampling.stages"));
}

TEST_F(Config_Load, MutatedConfigsAreAnswered) {
  // Oracle: an answer at all, and INVALID_CONFIG or NOT_FOUND (of what it then extends) if it is a
  // refusal.
  write("base.yaml", kMinimal);
  const std::string text = R"(plumbline: 1
extends: base.yaml
mode: lab
model: {source: {path: m.gguf}}
kernels:
  threads: 2
  overrides: [{op: rope, layers: 3-5, backend: r}, {op: add, layers: all, backend: r}]
  options: {a: &x [1, .5], b: *x}
sampling: {stages: [{top_p: {p: 0.9}, plugin: s}, draw], draw: cdf, seed: 3}
context: {length: 512, reserve_output: 16}
generation: {stop: ["a", b]}
)";
  const std::vector<std::string> pieces{
      "{", "}",    "[",    "]",   ":",  ", ", "\n",       "  ",      "- ",   "*x", "&x ", "~",
      "0", "draw", "auto", "all", "{}", "[]", "plugin: ", "model: ", "ship", "-1", "\"",  "#"};
  std::mt19937 random(11);
  for (int round = 0; round < 1500; ++round) {
    std::string mutated = text;
    for (unsigned edit = 0; edit < 1 + random() % 3; ++edit) {
      const size_t at = random() % mutated.size();
      mutated.replace(at, random() % 6, pieces[random() % pieces.size()]);
    }
    const auto resolved = load_config(request(write("a.yaml", mutated)));
    EXPECT_TRUE(resolved || resolved.error().code == PLUMB_INVALID_CONFIG ||
                resolved.error().code == PLUMB_NOT_FOUND)
        << mutated;
    EXPECT_TRUE(!resolved || !show_yaml(*resolved).empty());
  }
}

class Config_Shipped : public ConfigFiles, public ::testing::WithParamInterface<std::string> {};

std::vector<std::string> shipped_configs() {
  std::vector<std::string> names;
  for (const auto& file :
       std::filesystem::directory_iterator(PLUMB_SOURCE_DIR "/configs/pipelines")) {
    if (file.path().extension() == ".yaml") names.push_back(file.path().stem().string());
  }
  return names;
}

TEST_P(Config_Shipped, Resolves) {
  const ResolvedConfig resolved =
      loaded(PLUMB_SOURCE_DIR "/configs/pipelines/" + GetParam() + ".yaml");
  EXPECT_FALSE(resolved.config.sampling.stages.empty());
}

INSTANTIATE_TEST_SUITE_P(Pipelines, Config_Shipped, ::testing::ValuesIn(shipped_configs()),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           for (char& c : name)
                             c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

}  // namespace
}  // namespace plumbline::config
