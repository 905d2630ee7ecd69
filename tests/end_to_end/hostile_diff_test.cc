// Comparisons of what is broken, and on disks that are full: an error or a verdict, never a MATCH,
// and nothing half-written. Oracles: the exit codes of core/cli; what was broken on purpose.
#include <gmock/gmock.h>

#include "tests/end_to_end/plumb_command.h"

namespace plumbline::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class HostileDiff : public PlumbCommand {
 protected:
  HostileDiff() {
    write("in.gguf", tiny_world());
    write("ours.yaml", kConfig);
  }

  /// A runner that does that wrong, against our own decoder.
  Outcome with_runner(const std::string& fault, const std::string& more = "",
                      const std::string& before = "") const {
    write(fault + ".yaml", kConfig + std::string("runner: {name: ./") + fault + ".py}\n");
    return shell("ln -sf $SOURCE/tests/unit/runner/fake_runner.py " + fault +
                 ".py; export FAKE_VOCABULARY=512; " + before + " $PLUMB diff " + fault +
                 ".yaml ours.yaml --ids 1,2,3 --tokens 2 -o r.json " + more);
  }

  static constexpr const char* kConfig =
      "plumbline: 1\nmodel: {source: {path: in.gguf}}\nsampling: {profile: diff-greedy}\n";
};

TEST_F(HostileDiff, ARunnerThatBreaksIsAPluginThatFails) {
  struct Case {
    const char* fault;
    const char* says;
  };
  for (const Case& one :
       {Case{"dies_at_hello", "exit status 9"}, Case{"dies_at_forward", "last words"},
        Case{"killed_at_forward", "signal 9"}, Case{"rubbish_at_forward", "expected an answer"},
        Case{"wrong_shape", "expected logits f32[1,512]"}, Case{"too_many_bytes", "\"more"},
        Case{"half_a_tensor_then_dies", "exit status 4"}}) {
    const Outcome ran = with_runner(one.fault);
    EXPECT_EQ(ran.exit, 5) << one.fault << ran.out << ran.err;
    EXPECT_THAT(ran.err, AllOf(HasSubstr(one.says), HasSubstr("runner " + std::string(one.fault))));
    EXPECT_THAT(ran.out, IsEmpty()) << one.fault;
    EXPECT_THAT(files(), Not(testing::Contains("r.json"))) << one.fault;
  }
}

// The other verbs that ask one.
TEST_F(HostileDiff, ARunnerThatDiesIsAPluginThatFailsEverywhere) {
  write("prompts.jsonl", "{\"text\": \"Mara lives\"}\n");
  with_runner("dies_at_forward");
  for (const std::string verb : {"bisect dies_at_forward.yaml ours.yaml --ids 1,2,3",
                                 "noise dies_at_forward.yaml ours.yaml --prompts prompts.jsonl",
                                 "golden verify kept dies_at_forward.yaml"}) {
    const Outcome ran = shell(
        "export FAKE_VOCABULARY=512; [ -e kept ] || $PLUMB golden record ours.yaml -p Mara "
        "--tokens 2 -o kept; $PLUMB " +
        verb);
    EXPECT_EQ(ran.exit, 5) << verb << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("last words")) << verb;
  }
}

TEST_F(HostileDiff, ARunnerThatHangsIsEndedByTheLimitOrByCtrlC) {
  const Outcome late = with_runner("hangs_at_forward", "--set runner.timeout_s=1");
  EXPECT_EQ(late.exit, 5) << late.err;
  EXPECT_THAT(late.err, HasSubstr("runner.timeout_s"));
  EXPECT_EQ(with_runner("hangs_at_load", "", "timeout --preserve-status -s INT 1").exit, 130);
}

TEST_F(HostileDiff, ARunnerWhoseNumbersAreNoneOrOthersIsNoMatch) {
  const Outcome others = with_runner("good");
  EXPECT_EQ(others.exit, 1) << others.err;
  EXPECT_THAT(others.out,
              AllOf(Not(StartsWith("MATCH")), HasSubstr("fake does not tell its vocabulary")));
  const Outcome none = with_runner("nan_logits");
  EXPECT_EQ(none.exit, 1) << none.err;
  EXPECT_THAT(none.out, AllOf(StartsWith("WRONG"), HasSubstr("are NaN")));
}

TEST_F(HostileDiff, ARunnerOfAnotherVocabularyIsRefused) {
  const Outcome ran = with_runner("other_bytes");
  EXPECT_EQ(ran.exit, 5) << ran.out;
  EXPECT_THAT(ran.err, HasSubstr("expected the same vocabulary"));
  EXPECT_EQ(with_runner("other_vocabulary").exit, 5);
}

TEST_F(HostileDiff, OtherVocabulariesAreNoMatch) {
  std::string other = tiny_world();
  const size_t tokens = other.find("tokenizer.ggml.tokens");
  const size_t at = other.find("<|im_start|>", tokens);
  ASSERT_NE(at, other.npos);
  other.replace(at, 12, "<|im_begin|>");
  write("other.gguf", other);
  const Outcome ran =
      shell("$PLUMB diff ours.yaml --swap model=other.gguf -p 'The mill' --tokens 2");
  EXPECT_EQ(ran.exit == 0 ? 0 : 1, ran.exit) << ran.err;
  EXPECT_THAT(ran.out, AllOf(Not(StartsWith("MATCH")), HasSubstr("the vocabularies differ")));
  const Outcome ids = shell("$PLUMB diff ours.yaml --swap model=other.gguf --ids 1,2 --tokens 2");
  EXPECT_EQ(ids.exit, 2);
  EXPECT_THAT(ids.err, HasSubstr("no ids mean the same"));
  write("text.txt", std::string(400, 'x'));
  const Outcome scored =
      shell("$PLUMB perplexity ours.yaml --swap model=other.gguf --text text.txt --context 16");
  EXPECT_EQ(scored.exit, 4);
  EXPECT_THAT(scored.err, HasSubstr("the vocabularies differ"));
}

TEST_F(HostileDiff, PromptFilesThatHoldNoneOrAreBroken) {
  struct Case {
    const char* name;
    const char* bytes;
    int exit;
    const char* says;
  };
  for (const Case& one :
       {Case{"empty.jsonl", "", 3, "no prompt"}, Case{"blank.txt", "\n\r\n\n", 3, "no prompt"},
        Case{"broken.jsonl", "{\"text\": \"Mara\"}\n{\"text\": \n", 2, "broken.jsonl:2"},
        Case{"utf8.jsonl", "{\"text\": \"\xff\xfe\"}\n", 2, "utf8.jsonl:1"},
        Case{"kind.jsonl", "{\"text\": 7}\n", 2, "kind.jsonl:1"}}) {
    write(one.name, one.bytes);
    const Outcome ran = shell(std::string("$PLUMB diff ours.yaml --swap threads=1 --prompts ") +
                              one.name + " -o r.json");
    EXPECT_EQ(ran.exit, one.exit) << one.name << ran.out;
    EXPECT_THAT(ran.err, HasSubstr(one.says)) << one.name;
    EXPECT_THAT(ran.out, Not(StartsWith("MATCH")));
    EXPECT_THAT(files(), Not(testing::Contains("r.json"))) << one.name;
  }
  EXPECT_EQ(shell("$PLUMB diff ours.yaml --swap threads=1 --prompts missing.jsonl").exit, 4);
}

// No file may grow beyond one block, as on a disk that is all but full.
TEST_F(HostileDiff, AFullDiskLeavesNothing) {
  write("template.jinja", "{{ messages[0].content }}");
  write("chat.json", R"([{"role": "user", "content": "Who?"}])");
  const std::vector<std::string> before = files();
  const std::string diff = "$PLUMB diff ours.yaml --swap threads=1 --ids 1,2 --tokens 1 ";
  for (const std::string& line :
       {diff + "-o r.json", diff + "--html r.html",
        std::string("$PLUMB golden record ours.yaml -p Mara --tokens 2 -o kept"),
        std::string("$PLUMB reduce ours.yaml --swap template.path=template.jinja --messages "
                    "chat.json -o case")}) {
    const Outcome ran = shell("ulimit -f 1; " + line);
    EXPECT_EQ(ran.exit, 4) << line << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("plumb: error: ")) << line;
    EXPECT_EQ(files(), before) << line;
  }
  EXPECT_EQ(shell(diff + "> /dev/full").exit, 4);
}

TEST_F(HostileDiff, AReaderThatLeavesIsNoError) {
  const Outcome ran =
      shell("$PLUMB diff ours.yaml --swap kernels=reference --ids 1,2,3 --json | head -c 1");
  EXPECT_EQ(ran.out, "{");
  EXPECT_THAT(ran.err, IsEmpty());
}

}  // namespace
}  // namespace plumbline::test
