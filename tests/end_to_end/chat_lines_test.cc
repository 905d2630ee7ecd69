// plumb chat between pipes. Oracle: transformers' greedy answers (golden/models/tiny-world).
#include <gmock/gmock.h>

#include "tests/end_to_end/chat_desk.h"

namespace plumbline::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ContainsRegex;
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

TEST_F(ChatLines, TemplatesSeeTodaysDate) {
  write("year.jinja",
        "{% if messages[-1].content == 'When?' %}{{ raise_exception('in ' ~ strftime_now('%Y')) }}"
        "{% endif %}{% for m in messages %}{{ m.role }} {{ m.content }} {% endfor %}");
  const std::string year = shell("date -u +%Y").out;
  const Outcome ran = chat("When?\n", "--set template.path=year.jinja");
  EXPECT_THAT(ran.err, HasSubstr("in " + year.substr(0, 4)));
}

TEST_F(ChatLines, ALoadThatFailsLeavesWhatWasSaid) {
  std::string book;
  while (book.size() < 10000) book += "Captain belongs to Lukas. ";
  write("book.json", json::array({{{"role", "user"}, {"content", book}}}).dump());
  write("wrong.json", R"([{"role": 5}])");
  const std::string said = std::string(kQuestion) + "\n";
  const Outcome ran = chat(said + "/load book.json\n/load wrong.json\n/load -\n/show\n");
  EXPECT_EQ(ran.exit, 4);
  EXPECT_EQ(ran.out, std::string(kAnswer) + "\n");
  EXPECT_THAT(ran.err, AllOf(HasSubstr("the conversation is the one before"),
                             HasSubstr("messages[0].role: a number, expected a text"),
                             HasSubstr("error: -: ")));
  EXPECT_TRUE(ran.err.ends_with("user: " + said + "\nassistant: " + kAnswer + "\n\n")) << ran.err;
}

TEST_F(ChatLines, ARestoredConversationHasItsSeed) {
  const std::string entries = R"("Who is Captain?")";
  const auto seed = [](const Outcome& ran) {
    const std::vector<json> events = lines_of(ran);
    json last;
    for (const json& event : events) {
      if (event["event"] == "answer") last = event["seed"];
    }
    return last;
  };
  const std::string options = "--json --set sampling.profile=balanced --set sampling.seed=";
  const Outcome first = chat(entries + "\n\"/save talk\"\n" + entries + "\n", options + "9");
  const Outcome restored = chat("\"/load talk\"\n" + entries + "\n", options + "1");
  EXPECT_EQ(restored.exit, 0) << restored.out;
  EXPECT_EQ(seed(restored), seed(first));
  // A key of the settings that is no sampling leaves it.
  const Outcome longer =
      chat("\"/load talk\"\n\"/set generation.max_tokens=9\"\n" + entries + "\n", options + "1");
  EXPECT_EQ(seed(longer), seed(first));
}

TEST_F(ChatLines, UndoesAllOrNothing) {
  const std::string said = std::string(kQuestion) + "\n";
  const Outcome ran = chat(said + said + "/undo 3\n/undo 2\n/show\n/undo\n", "--quiet");
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("/undo 3: there are 2 messages of yours"),
                             HasSubstr("nothing was said yet"),
                             HasSubstr("/undo 1: there are 0 messages of yours")));
}

TEST_F(ChatLines, ShowsTheSettingsAsTheyAre) {
  // A config that leaves the length of an answer open.
  write("open.yaml", "plumbline: 1\nmodel: {source: {path: '" PLUMB_SOURCE_DIR
                     "/golden/models/tiny-world/model.gguf'}}\nsampling: {profile: balanced}\n");
  write("input", "/set\n/set generation.max_tokens=5\n/set\n");
  const Outcome ran = shell("$PLUMB chat open.yaml < input");
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.err, AllOf(ContainsRegex("generation.max_tokens +1024\n"),
                             ContainsRegex("generation.max_tokens +5\n"),
                             HasSubstr(R"(  ["\n", ":", "\"", "*"])")));
}

TEST_F(ChatLines, ASystemMessageOfParts) {
  write("talk.json", R"([{"role": "system", "content": [{"type": "text", "text": "Be brief."}]}])");
  const Outcome ran = chat("/load talk.json\n/system\n");
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("Be brief."));
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
