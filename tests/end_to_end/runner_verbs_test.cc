// A config whose decoder is a foreign engine. Oracles: the formulas of
// tests/unit/runner/fake_runner.py, and the exit codes of core/cli.
#include <gmock/gmock.h>

#include <algorithm>
#include <utility>

#include "core/base/npy.h"
#include "tests/end_to_end/plumb_command.h"

namespace plumbline::test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

class RunnerVerbs : public PlumbCommand {
 protected:
  /// `plumb VERB` with a config whose runner does that wrong.
  Outcome with_runner(const std::string& fault, const std::string& verb) const {
    write("runner.yaml", "plumbline: 1\nmodel: {source: {path: " PLUMB_SOURCE_DIR
                         "/golden/models/tiny-world/model.gguf}}\nrunner: {name: ./" +
                             fault + ".py}\nsampling: {profile: diff-greedy}\n");
    return shell("ln -s $SOURCE/tests/unit/runner/fake_runner.py " + fault + ".py; $PLUMB " + verb);
  }
};

TEST_F(RunnerVerbs, LogitsComeFromTheEngine) {
  const Outcome last = with_runner("good", "logits runner.yaml --ids 1,2,3 --json --top 2");
  ASSERT_EQ(last.exit, 0) << last.err;
  const auto top = nlohmann::json::parse(last.out).at("top");
  // (7 * 6 + 3 * v) mod 13: 12 for v = 3, 11 for v = 7.
  EXPECT_EQ(top[0].at("id"), 3);
  EXPECT_EQ(top[0].at("logit"), 12);
  EXPECT_EQ(top[1].at("id"), 7);
  const Outcome all = shell("$PLUMB logits runner.yaml --ids 1,2,3 --all -o rows.npy");
  ASSERT_EQ(all.exit, 0) << all.err;
  const auto rows = parse_npy(read_file(path("rows.npy")));
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_THAT(rows->shape, testing::ElementsAre(3, 11));
  EXPECT_EQ(rows->values[1], 10) << "(7 * 1 + 3 * 1) mod 13";
}

TEST_F(RunnerVerbs, OneThatFailsIsAPluginThatFails) {
  const Outcome dead = with_runner("dies_at_load", "logits runner.yaml --ids 1");
  EXPECT_EQ(dead.exit, 5);
  EXPECT_THAT(dead.err, AllOf(HasSubstr("exit status 9"), HasSubstr("last words")));
  const Outcome late =
      with_runner("hangs_at_forward", "logits runner.yaml --ids 1 --set runner.timeout_s=1");
  EXPECT_EQ(late.exit, 5);
  EXPECT_THAT(late.err, HasSubstr("runner.timeout_s"));
  const Outcome wrong = with_runner("wrong_shape", "logits runner.yaml --ids 1");
  EXPECT_EQ(wrong.exit, 5);
  EXPECT_THAT(wrong.err, HasSubstr("expected logits f32[1,11]"));
}

TEST_F(RunnerVerbs, MistakesOfTheConfigAreTheConfigs) {
  const Outcome unknown =
      with_runner("good", "logits runner.yaml --ids 1 --set runner.name=transformer");
  EXPECT_EQ(unknown.exit, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean \"transformers\"?"));
  const Outcome option =
      shell("$PLUMB logits runner.yaml --ids 1 --set runner.options='{speed: high}'");
  EXPECT_EQ(option.exit, 2);
  EXPECT_THAT(option.err, HasSubstr("runner.options.speed: unknown"));
  const Outcome id = shell("$PLUMB logits runner.yaml --ids 11");
  EXPECT_EQ(id.exit, 2);
  EXPECT_THAT(id.err, HasSubstr("id 11, expected 0 to 10"));
  const Outcome run = shell("$PLUMB run runner.yaml --raw -p Mara");
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.err, HasSubstr("needs our own decoder"));
}

// What transformers and llama.cpp answered once, against our decoder in f32: the maps, the hash of
// the vocabulary and the way of every tensor into our ops, without the engines.
// Source of the bounds: transformers sums f32 in another order: at most n * 2^-24 of the terms'
// sizes, in sums of n = 256 terms, the widest. llama.cpp rounds activations to 8 bits in blocks of
// 32 (half a step of 127: 0.4 % of a block's largest value, and that is some times the root mean
// square), and its KV cache to 11 bits.
class RunnerTranscripts : public PlumbCommand {
 protected:
  Outcome run(const std::string& engine, const std::string& map) const {
    const std::string model = "plumbline: 1\nmodel: {source: {path: " PLUMB_SOURCE_DIR
                              "/golden/models/tiny-world/model.gguf}}\n";
    write("theirs.yaml",
          model + "runner: {name: " PLUMB_SOURCE_DIR "/tests/end_to_end/replay_runner.py, map: " +
              map + "}\n");
    write("ours.yaml", model + "kernels: {activations: f32}\n");
    return shell("PLUMB_TRANSCRIPT=$SOURCE/golden/runners/" + engine +
                 " $PLUMB diff theirs.yaml ours.yaml --ids 365,334,288,261,300,17,42 --tokens 1 "
                 "--json");
  }
  nlohmann::json diff(const std::string& engine, const std::string& map) const {
    const Outcome ran = run(engine, map);
    EXPECT_LE(ran.exit, 1) << ran.err;
    return nlohmann::json::parse(ran.out, nullptr, false);
  }
  static std::string map_of(const std::string& engine) {
    return PLUMB_SOURCE_DIR "/plugins/runners/" + engine + "/maps/llama.yaml";
  }
  static double worst_introduced(const nlohmann::json& report) {
    double worst = 0;
    for (const auto& op : report.at("prompts").at(0).at("ops"))
      worst = std::max(worst, op.at("introduced_worst").get<double>());
    return worst;
  }
};

TEST_F(RunnerTranscripts, EveryMappedOpIsOurs) {
  for (const auto& [engine, bound] : {std::pair<std::string, double>("transformers", 256 * 0x1p-24),
                                      std::pair<std::string, double>("llama_cpp", 0.02)}) {
    const nlohmann::json report = diff(engine, map_of(engine));
    ASSERT_TRUE(report.is_object()) << engine;
    EXPECT_LE(worst_introduced(report), bound) << engine;
    const nlohmann::json& prompt = report["prompts"][0];
    EXPECT_EQ(prompt["ops"].size(), 67u) << engine << ", of 84 ops";
    EXPECT_EQ(prompt["logits"][0]["top_a"], prompt["logits"][0]["top_b"]) << engine;
    EXPECT_THAT(report["notes"].dump(), Not(AnyOf(HasSubstr("vocabulary"), HasSubstr("watched"))))
        << engine;
  }
}

TEST_F(RunnerTranscripts, AMapThatMixesUpChannelsIsFound) {
  std::string wrong = read_file(map_of("transformers"));
  const std::string transform = "half_to_interleaved";
  ASSERT_NE(wrong.find(transform), wrong.npos);
  wrong.replace(wrong.find(transform), transform.size(), "interleaved_to_half");
  write("wrong.yaml", wrong);
  const nlohmann::json report = diff("transformers", "wrong.yaml");
  EXPECT_THAT(report["verdict"], AnyOf("UNEXPLAINED", "WRONG"));
  EXPECT_GT(worst_introduced(report), 0.1);
}

TEST_F(RunnerTranscripts, AMapWithAnOpThatWeLackIsRefused) {
  std::string wrong = read_file(map_of("transformers"));
  const std::string op = "ours: attn_q_rope";
  ASSERT_NE(wrong.find(op), wrong.npos);
  wrong.replace(wrong.find(op), op.size(), "ours: attn_q_rop");
  write("wrong.yaml", wrong);
  const Outcome refused = run("transformers", "wrong.yaml");
  EXPECT_EQ(refused.exit, 2) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("the op 0.attn_q_rop, "));
  EXPECT_THAT(refused.err, HasSubstr("did you mean \"0.attn_q_rope\"?"));
}

}  // namespace
}  // namespace plumbline::test
