// The choices in which two configs differ. Oracles: none of them gives A, all of them give B, and
// configs written by hand in between.
#include "core/diff/bisect_choices.h"

#include <gmock/gmock.h>

#include "core/config/show.h"
#include "tests/support/temporary_folder.h"

namespace plumbline::diff {
namespace {

using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;

config::ResolvedConfig load(const TemporaryFolder& folder, const std::string& text) {
  const auto resolved =
      config::load_config({.file = folder.write("pipeline.yaml", "plumbline: 1\n" + text),
                           .overrides = {},
                           .preset_folders = {PLUMB_SOURCE_DIR "/configs/presets"}});
  EXPECT_TRUE(resolved) << resolved.error().message;
  return *resolved;
}

/// As text without origins.
std::string shown(const config::ResolvedConfig& resolved) {
  return one_line(resolved.tree);
}

std::vector<std::string> lines(const Choices& choices) {
  std::vector<std::string> all;
  for (const Choice& one : choices.list()) all.push_back(one.path + ": " + one.a + " -> " + one.b);
  return all;
}

constexpr const char* kA = R"(
model: {source: {package: smollm2-135m}}
kernels:
  activations: f32
  overrides:
    - {op: rope, layers: 3-5, backend: plumb.reference}
    - {op: attend, backend: plumb.reference}
sampling: {seed: 1, stages: [temperature: {t: 0.7}, top_k: {k: 40}, top_p: {p: 0.9}, cdf]}
template: {path: a.jinja, sha256: 0000000000000000000000000000000000000000000000000000000000000000}
)";
constexpr const char* kB = R"(
model: {source: {path: model.gguf}}
kernels:
  overrides:
    - {op: attend, backend: plumb.reference}
    - {op: rope, layers: 3-5, backend: plumb.cpu.scalar}
    - {op: ffn_act, backend: plumb.reference}
sampling: {seed: 2, stages: [top_k: {k: 40}, top_p: {p: 0.8}, temperature: {t: 0.7}, cdf]}
template: {path: b.jinja}
)";

// A shipped reference has its model's sampling, or a diff of the two would tell of that at door 40.
TEST(Choices, OfAShippedReferenceAreItsEngine) {
  const std::string folder = PLUMB_SOURCE_DIR "/configs/pipelines/";
  const auto shipped = [&](const std::string& name) {
    const auto resolved =
        config::load_config({.file = folder + name + ".yaml",
                             .overrides = {},
                             .preset_folders = {PLUMB_SOURCE_DIR "/configs/presets"}});
    EXPECT_TRUE(resolved) << resolved.error().message;
    return *resolved;
  };
  const auto paths = [](const Choices& choices) {
    std::vector<std::string> all;
    for (const Choice& one : choices.list()) all.push_back(one.path);
    return all;
  };
  for (const std::string model : {"smollm2", "gemma3", "qwen2.5-coder"}) {
    const auto plain = shipped(model);
    for (const char* runner : {"-llama-cpp", "-transformers"}) {
      const auto reference = shipped(model + runner);
      EXPECT_THAT(paths(Choices(reference.tree, plain.tree)), ElementsAre("runner.name")) << model;
    }
    const auto reference = shipped(model + "-reference-f32");
    EXPECT_THAT(paths(Choices(reference.tree, plain.tree)),
                ElementsAre("kernels.backend", "kernels.activations"))
        << model;
  }
}

TEST(Choices, ListsKeysEntriesAndWhatBelongsTogether) {
  const TemporaryFolder folder;
  const auto a = load(folder, kA), b = load(folder, kB);
  const Choices choices(a.tree, b.tree);
  const std::string at = folder.path("");
  EXPECT_THAT(
      lines(choices),
      ElementsAre(
          "model.source: {package: smollm2-135m} -> {path: " + at + "model.gguf}",
          "kernels.activations: f32 -> q8",
          "kernels.overrides: rope, layers 3-5: {op: rope, layers: 3-5, backend: plumb.reference, "
          "options: {}} -> ",
          "kernels.overrides: rope, layers 3-5:  -> {op: rope, layers: 3-5, backend: "
          "plumb.cpu.scalar, options: {}}",
          "kernels.overrides: ffn_act:  -> {op: ffn_act, layers: all, backend: plumb.reference, "
          "options: {}}",
          "template.path: " + at + "a.jinja -> " + at + "b.jinja",
          "sampling.stages: temperature: {temperature: {t: 0.7}} -> ",
          "sampling.stages: top_p: {top_p: {p: 0.9}} -> {top_p: {p: 0.8}}",
          "sampling.stages: temperature:  -> {temperature: {t: 0.7}}", "sampling.seed: 1 -> 2"));
}

TEST(Choices, NoneGiveAAndAllGiveB) {
  const TemporaryFolder folder;
  const auto a = load(folder, kA), b = load(folder, kB);
  const Choices choices(a.tree, b.tree);
  const auto none = choices.mix({});
  const auto all = choices.mix(all_of(choices.size()));
  ASSERT_TRUE(none && all);
  EXPECT_EQ(shown(*none), shown(a));
  EXPECT_EQ(one_line(*all->tree.at("kernels")), one_line(*b.tree.at("kernels")));
  EXPECT_EQ(one_line(*all->tree.at("sampling")), one_line(*b.tree.at("sampling")));
  EXPECT_EQ(all->config.model.source.path, b.config.model.source.path);
  EXPECT_EQ(all->config.chat_template.sha256, "");
  ASSERT_EQ(all->config.sampling.stages.size(), 4u);
  EXPECT_EQ(all->config.sampling.stages[2].stage, "temperature");
  EXPECT_EQ(all->config.sampling.seed, 2u);
}

// A kind of ops and one of them: the first that fits is the one that holds.
TEST(Choices, OrderOfOverridesCounts) {
  const TemporaryFolder folder;
  const std::string head = "model: {source: {package: m}}\nkernels: {overrides: [";
  const std::string all = "{op: rope, backend: plumb.reference}";
  const std::string one = "{op: attn_q_rope, backend: plumb.cpu.scalar}";
  const auto a = load(folder, head + all + ", " + one + "]}\n");
  const auto b = load(folder, head + one + ", " + all + "]}\n");
  const Choices choices(a.tree, b.tree);
  EXPECT_EQ(choices.size(), 2u);
  const auto mixed = choices.mix(all_of(choices.size()));
  ASSERT_TRUE(mixed) << mixed.error().message;
  EXPECT_EQ(one_line(*mixed->tree.at("kernels")), one_line(*b.tree.at("kernels")));
}

TEST(Choices, MixesOne) {
  const TemporaryFolder folder;
  const auto a = load(folder, kA), b = load(folder, kB);
  const Choices choices(a.tree, b.tree);
  const auto activations = choices.mix({1});
  ASSERT_TRUE(activations) << activations.error().message;
  std::string text = kA;
  text.replace(text.find("activations: f32"), 16, "activations: q8");
  EXPECT_EQ(shown(*activations), shown(load(folder, text)));
}

TEST(Choices, RefusesMixturesThatContradictThemselves) {
  const TemporaryFolder folder;
  const auto a = load(folder,
                      "model: {source: {package: m}}\n"
                      "context: {length: 100, reserve_output: 50}\n");
  const auto b = load(folder,
                      "model: {source: {package: m}}\n"
                      "context: {length: 500, reserve_output: 200}\n");
  const Choices choices(a.tree, b.tree);
  ASSERT_EQ(choices.size(), 2u);
  EXPECT_TRUE(choices.mix({0}));
  const auto mixed = choices.mix({1});
  ASSERT_FALSE(mixed);
  EXPECT_EQ(mixed.error().code, PLUMB_INVALID_CONFIG);
  EXPECT_THAT(mixed.error().message, HasSubstr("leaves no room for a prompt"));
}

TEST(Choices, EqualConfigsHaveNone) {
  const TemporaryFolder folder;
  const auto a = load(folder, kA);
  EXPECT_EQ(Choices(a.tree, a.tree).size(), 0u);
}

}  // namespace
}  // namespace plumbline::diff
