// plumb chat between pipes. Oracle: transformers' greedy answers (golden/models/tiny-world).
#include <gmock/gmock.h>

#include "tests/end_to_end/chat_desk.h"

namespace plumbline::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ChatLines : public ChatDesk {
 protected:
  Outcome chat(const std::string& input, const std::string& options = "") const {
    write("input", input);
    return shell("XDG_STATE_HOME=$PWD/state $PLUMB chat tiny-world --set kernels.activations=f32 " +
                 options + " < input");
  }
};

std::vector<json> lines_of(const Outcome& ran) {
  std::vector<json> lines;
  for (size_t begin = 0, end; (end = ran.out.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    lines.push_back(json::parse(ran.out.substr(begin, end - begin)));
  }
  return lines;
}

TEST_F(ChatLines, AnAnswerForEachLine) {
  const Outcome ran = chat(std::string(kQuestion) + "\n/retry\n/undo\n" + kQuestion, "--quiet");
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.out, std::string(kAnswer) + "\n" + kAnswer + "\n" + kAnswer + "\n");
  EXPECT_THAT(ran.err, IsEmpty());
}

TEST_F(ChatLines, ABackslashGoesOn) {
  const Outcome ran = chat("one\\\ntwo\n/save talk.json\n");
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(json::parse(read_file(path("talk.json")))[0]["content"], "one\ntwo");
}

TEST_F(ChatLines, AllOfItOnce) {
  const Outcome ran = chat(std::string(kQuestion) + "\n", "--once --quiet");
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.out, std::string(kAnswer) + "\n");
}

TEST_F(ChatLines, ASlashThatIsNoCommand) {
  const Outcome ran = chat("//path\n/save talk.json\n");
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(json::parse(read_file(path("talk.json")))[0]["content"], "/path");
}

TEST_F(ChatLines, BeginsWithWhatIsGiven) {
  write("talk.json", R"([{"role": "user", "content": "Who is Captain?"}])");
  const Outcome asked = chat("/show\n", "--messages talk.json --quiet");
  EXPECT_EQ(asked.out, std::string(kAnswer) + "\n");
  EXPECT_THAT(asked.err, HasSubstr("user: Who is Captain?"));
  const Outcome told = chat("/show\n", "--system 'Be brief.' --quiet");
  EXPECT_THAT(told.err, HasSubstr("system: Be brief."));
}

TEST_F(ChatLines, ErrorsEndNothing) {
  const Outcome ran = chat("/nothing\n/load nothing.json\n" + std::string(kQuestion) + "\n");
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.out, std::string(kAnswer) + "\n");
  EXPECT_THAT(ran.err, AllOf(HasSubstr("/nothing: no such command"), HasSubstr("nothing.json")));
}

TEST_F(ChatLines, TellsWhatHadToGo) {
  std::string questions;
  for (int i = 0; i < 30; ++i) questions += std::string(kQuestion) + "\n";
  const Outcome ran = chat(questions);
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("older messages left out of the context"));
}

TEST_F(ChatLines, EventsForPrograms) {
  const Outcome ran = chat("\"Who is Captain?\"\n\"/nothing\"\nno JSON\n\"/undo\"\n", "--json");
  EXPECT_EQ(ran.exit, 2);
  const std::vector<json> events = lines_of(ran);
  std::string streamed;
  std::vector<std::string> others;
  for (const json& event : events) {
    if (event["event"] == "text") {
      streamed += event["text"];
    } else {
      others.push_back(event["event"]);
    }
  }
  EXPECT_EQ(streamed, kAnswer);
  EXPECT_EQ(others, (std::vector<std::string>{"answer", "error", "error", "note"}));
  for (const json& event : events) {
    if (event["event"] == "answer") {
      EXPECT_EQ(event["message"]["content"], kAnswer);
      EXPECT_EQ(event["stop_reason"], "EOS_TOKEN");
      EXPECT_EQ(event["context"]["capacity"], 512);
    }
  }
}

TEST_F(ChatLines, NoSequencesForPipes) {
  const Outcome ran = chat("/help\n" + std::string(kQuestion) + "\n/stats\n");
  EXPECT_THAT(ran.out + ran.err, Not(HasSubstr("\x1b")));
  EXPECT_EQ(files(), (std::vector<std::string>{"input"})) << "no history";
}

TEST_F(ChatLines, AReaderThatLeavesEndsIt) {
  const Outcome ran = shell("yes 'Who is Captain?' | $PLUMB chat tiny-world -q | head -n 1");
  EXPECT_EQ(ran.exit, 0);
  EXPECT_THAT(ran.out, HasSubstr("Captain"));
}

}  // namespace
}  // namespace plumbline::test
