// A config whose decoder is a foreign engine. Oracles: the formulas of
// tests/unit/runner/fake_runner.py, and the exit codes of core/cli.
#include <gmock/gmock.h>

#include "core/base/npy.h"
#include "tests/end_to_end/plumb_command.h"

namespace plumbline::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

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

}  // namespace
}  // namespace plumbline::test
