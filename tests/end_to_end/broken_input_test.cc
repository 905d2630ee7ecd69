// Broken files: one line that says what was seen, expected and where, the exit code of a data file,
// nothing else. Oracle: the exit codes of the documentation; a file with one named fault cannot be
// right.
#include <gmock/gmock.h>

#include <cstring>
#include <random>

#include "core/hash/sha256.h"
#include "tests/end_to_end/plumb_command.h"

namespace plumbline::test {
namespace {

using testing::HasSubstr;

constexpr int kModelFile = 4;

class BrokenInput : public PlumbCommand {
 protected:
  /// Runs a model file of these bytes.
  Outcome run(std::string_view model) const {
    write("model.gguf", model);
    return shell("$PLUMB run tiny-world -p Mara --set \"model.source.path=$PWD/model.gguf\"");
  }
};

void expect_one_line(const Outcome& outcome, int exit) {
  EXPECT_EQ(outcome.exit, exit) << outcome.err;
  EXPECT_THAT(outcome.err, testing::MatchesRegex("plumb: error: [^\n]+\n"));
  EXPECT_THAT(outcome.out, testing::IsEmpty());
}

TEST_F(BrokenInput, TheUnbrokenFileRuns) {
  EXPECT_EQ(run(tiny_world()).exit, 0);
}

TEST_F(BrokenInput, MissingModel) {
  const Outcome said =
      shell("$PLUMB run tiny-world -p Mara --set model.source.path=/nowhere/model.gguf");
  expect_one_line(said, kModelFile);
  EXPECT_THAT(said.err, HasSubstr("/nowhere/model.gguf"));
}

TEST_F(BrokenInput, AModelThatWasNeverPulledSaysHowToPullIt) {
  const Outcome said = shell("$PLUMB run smollm2 -p Hello");
  expect_one_line(said, kModelFile);
  EXPECT_THAT(said.err, HasSubstr("plumb model pull smollm2-135m"));
}

TEST_F(BrokenInput, AModelThatNobodyKnows) {
  const Outcome said = shell("$PLUMB model pull no-such-model");
  expect_one_line(said, 2);
  EXPECT_THAT(said.err, HasSubstr("no-such-model"));
}

TEST_F(BrokenInput, MissingConfig) {
  const Outcome said = shell("$PLUMB run nowhere.yaml -p Hello");
  expect_one_line(said, 2);
  EXPECT_THAT(said.err, HasSubstr("nowhere.yaml"));
}

TEST_F(BrokenInput, EmptyFile) {
  expect_one_line(run(""), kModelFile);
}

TEST_F(BrokenInput, WrongMagic) {
  std::string model = tiny_world();
  model.replace(0, 4, "FUGG");
  expect_one_line(run(model), kModelFile);
}

TEST_F(BrokenInput, TruncatedAnywhere) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20; ++i) {
    const size_t at = random() % tiny_world().size();
    SCOPED_TRACE("cut at " + std::to_string(at));
    expect_one_line(run(std::string_view(tiny_world()).substr(0, at)), kModelFile);
  }
}

TEST_F(BrokenInput, ATensorThatClaimsATebibyte) {
  std::string model = tiny_world();
  // GGUF: the tensor's name, then u32 n_dims, then u64 dims[].
  const std::string name = "token_embd.weight";
  const size_t at = model.find(name) + name.size() + 4;
  const uint64_t dim = uint64_t{1} << 40;
  std::memcpy(model.data() + at + 8, &dim, sizeof dim);
  const Outcome said = run(model);
  expect_one_line(said, kModelFile);
  EXPECT_THAT(said.err, HasSubstr(name));
}

TEST_F(BrokenInput, UnknownArchitecture) {
  std::string model = tiny_world();
  const size_t key = model.find("general.architecture");
  model.replace(model.find("llama", key), 5, "zebra");
  const Outcome said = run(model);
  expect_one_line(said, kModelFile);
  EXPECT_THAT(said.err, HasSubstr("zebra"));
}

TEST_F(BrokenInput, WrongSha256) {
  write("model.gguf", tiny_world());
  write("pinned.yaml", "plumbline: 1\nmodel:\n  source: {path: model.gguf, sha256: " +
                           std::string(64, '0') + "}\n");
  const Outcome said = shell("$PLUMB run pinned.yaml -p Mara");
  expect_one_line(said, kModelFile);
  EXPECT_THAT(said.err, HasSubstr(*sha256_of_file(path("model.gguf"))));
  EXPECT_THAT(said.err, HasSubstr(std::string(64, '0')));
}

TEST_F(BrokenInput, LogitsThatAreNoArray) {
  write("row.npy", "no array");
  expect_one_line(shell("$PLUMB sample tiny-world --logits row.npy"), kModelFile);
  expect_one_line(shell("$PLUMB sample tiny-world --logits nowhere.npy"), kModelFile);
}

TEST_F(BrokenInput, StdinThatIsNoJson) {
  expect_one_line(shell("echo nonsense | $PLUMB render tiny-world"), 2);
  expect_one_line(
      shell("echo '[]' | $PLUMB render --json --from $SOURCE/golden/templates/tiny-world.jinja"),
      2);
  expect_one_line(shell("echo nonsense | $PLUMB tokenize tiny-world --jsonl"), 2);
  write("tokenizer.json", R"({"added_tokens": [], "pre_tokenizer": {"type": "WhitespaceSplit"},
    "model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "none"}})");
  write("lines.jsonl", "{\"text\": \"a\"}\n\n{\"text\": \"b\"}\n{\"text\": \"a\"}\n");
  const Outcome broken = shell("$PLUMB tokenize --from tokenizer.json --jsonl < lines.jsonl");
  EXPECT_EQ(broken.exit, 5);
  EXPECT_EQ(broken.out, "{\"ids\":[0],\"spans\":[[0,1]]}\n");
  EXPECT_NE(broken.err.find("stdin line 3: "), std::string::npos) << broken.err;
  expect_one_line(shell("echo '{\"ids\": [\"x\"]}' | $PLUMB tokenize tiny-world --decode"), 2);
}

TEST_F(BrokenInput, IdsThatAreNoArray) {
  expect_one_line(shell("echo '{\"ids\": 5}' | $PLUMB tokenize tiny-world --decode"), 2);
  expect_one_line(shell("echo '{\"ids\": null}' | $PLUMB tokenize tiny-world --decode"), 2);
}

TEST_F(BrokenInput, MessagesNestedWithoutEnd) {
  std::string deep = "[{\"role\": \"user\", \"content\": ";
  deep += std::string(100000, '[') + std::string(100000, ']') + "}]";
  write("talk.json", deep);
  expect_one_line(shell("$PLUMB run tiny-world --messages talk.json"), 2);
  expect_one_line(shell("$PLUMB render tiny-world < talk.json"), 2);
}

TEST_F(BrokenInput, MessagesThatAreAFolder) {
  const Outcome said = shell("$PLUMB run tiny-world --messages .");
  expect_one_line(said, kModelFile);
  EXPECT_THAT(said.err, HasSubstr("cannot be read"));
}

TEST_F(BrokenInput, AModelThatIsAPipe) {
  const Outcome said =
      shell("mkfifo pipe; $PLUMB run tiny-world -p Mara --set \"model.source.path=$PWD/pipe\"");
  expect_one_line(said, kModelFile);
  EXPECT_THAT(said.err, HasSubstr("not a regular file"));
}

TEST_F(BrokenInput, ThreadsThatTheSystemDoesNotGive) {
  // 1 TiB of stack for each thread, and less than that for all.
  const Outcome said = shell(
      "ulimit -s 1073741824; ulimit -v 8388608; $PLUMB run tiny-world -p Mara --set "
      "kernels.threads=2");
  expect_one_line(said, 2);
  EXPECT_THAT(said.err, HasSubstr("thread 2 of 2 cannot be started"));
}

TEST_F(BrokenInput, ABenchLongerThanCountersReach) {
  const Outcome said = shell("$PLUMB bench tiny-world --json --prefill 4294967295 --decode 64");
  expect_one_line(said, 2);
  EXPECT_THAT(said.err, HasSubstr("exceed the context"));
}

TEST_F(BrokenInput, IdsOutsideTheVocabulary) {
  expect_one_line(shell("$PLUMB logits tiny-world --ids 1,99999999"), 2);
}

TEST_F(BrokenInput, AMessageWithoutContentIsTheTemplatesError) {
  const Outcome said =
      shell("echo '[{\"role\": \"user\"}]' | $PLUMB render tiny-world --undefined strict");
  expect_one_line(said, 2);
  EXPECT_THAT(said.err, HasSubstr("line 2"));  // of the template
}

}  // namespace
}  // namespace plumbline::test
