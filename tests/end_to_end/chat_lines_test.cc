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

TEST_F(ChatLines, BytesThatAreNoTextCanBeSaved) {
  const Outcome ran = chat("a\xff\n/save talk.json\n");
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(json::parse(read_file(path("talk.json")))[0]["content"], "a\uFFFD");
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

TEST_F(ChatLines, NothingIsAnsweredWithoutWhatItWasToBeginWith) {
  write("wrong.json", R"([{"role": 5}])");
  write("wrong.talk", "no conversation");
  for (const std::string file : {"missing.json", "wrong.json", "wrong.talk"}) {
    const Outcome ran = chat(std::string(kQuestion) + "\n", "--messages " + file);
    EXPECT_EQ(ran.exit, 4) << file;
    EXPECT_THAT(ran.out, IsEmpty()) << file;
    EXPECT_THAT(ran.err, HasSubstr("error: " + file + ": "));
    const Outcome as_json = chat("\"Who?\"\n", "--json --messages " + file);
    EXPECT_EQ(as_json.exit, 4) << file;
    const std::vector<json> events = lines_of(as_json);
    ASSERT_EQ(events.size(), 1) << file;
    EXPECT_EQ(events[0]["event"], "error");
    EXPECT_TRUE(std::string(events[0]["message"]).starts_with(file + ": ")) << events[0];
  }
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
                             HasSubstr(R"(  ["\n", ":", "\"", "*"])"),
                             ContainsRegex("sampling.profile +balanced\n"),
                             ContainsRegex("sampling.stages +\\[temperature, min_p, cdf\\]\n")));
}

TEST_F(ChatLines, NeitherAFolderNorAPipeWithoutReader) {
  EXPECT_EQ(shell("$PLUMB chat tiny-world < .").exit, 4);
  EXPECT_EQ(shell("$PLUMB run tiny-world < .").exit, 4);
  const Outcome ran = shell("mkfifo pipe; echo /save pipe | $PLUMB chat tiny-world");
  EXPECT_EQ(ran.exit, 2) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("pipe: a pipe, whose reader may never come"));
}

TEST_F(ChatLines, WhatCouldBeReadCanBeReadAgain) {
  write("tools.json", R"([{"z": )" + std::string(127, '[') + std::string(127, ']') + "}]");
  const Outcome ran = chat("/tools tools.json\n/save talk\n/load talk\n");
  EXPECT_EQ(ran.exit, 0) << ran.err;
}

TEST_F(ChatLines, AByteOrderMarkInFrontOfMessages) {
  write("talk.json", std::string("\xEF\xBB\xBF") + R"([{"role": "assistant", "content": "Hi."}])");
  EXPECT_THAT(chat("/load talk.json\n/show\n").err, HasSubstr("assistant: Hi."));
}

TEST_F(ChatLines, FilesThatAreNoMessagesAreNamed) {
  write("role.json", R"([{"role": 5}])");
  write("text.json", "[\n 1 2]");
  std::string wide = R"([{"role": "user", "content": "")";
  for (int i = 0; i < 5000; ++i) wide += ",\"k" + std::to_string(i) + "\":0";
  write("wide.json", wide + "}]");
  const Outcome ran = chat("/load role.json\n/load text.json\n/load wide.json\n/tools wide.json\n");
  EXPECT_THAT(ran.err, AllOf(HasSubstr("role.json: messages[0].role: a number"),
                             HasSubstr("text.json: line 2, column 4: expected JSON"),
                             HasSubstr("wide.json: an object with more than 4096 keys")));
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
    EXPECT_EQ(event.contains("diagnostics"), event["event"] == "answer");
  }
}

// Oracle: core/doc/diagnostics.md.
TEST_F(ChatLines, PayloadsForPrograms) {
  const std::string long_one(600, 'x');
  const Outcome ran = chat("\"Who is Captain?\"\n\"Who is Captain?\"\n\"Who is Captain?\"\n\"" +
                               long_one + "\"\n\"/retry\"\n",
                           "--json --set context.length=96 --set generation.max_tokens=24");
  EXPECT_EQ(ran.exit, 4);
  std::vector<json> payloads;
  for (const json& event : lines_of(ran)) {
    if (!event.contains("diagnostics")) continue;
    payloads.push_back(event["diagnostics"]);
    const json& stable = payloads.back()["stable"];
    EXPECT_EQ(stable["error_recovery"]["numeric_code"], event["event"] == "error" ? 11 : 0);
    EXPECT_EQ(stable["load_stage_status"], "KV_ALLOCATION_SUCCESS");
    EXPECT_EQ(stable["model_identity"]["architecture"], "llama");
    EXPECT_EQ(stable["components"].size(), 3u);
    EXPECT_EQ(stable["numerics"], json::array({"canonical-1"}));
    if (event["event"] == "error") {
      EXPECT_EQ(payloads.back()["volatile"]["error_detail"], event["message"]);
      continue;
    }
    EXPECT_EQ(stable["kv"]["lcp_reused"], event["n_reused_tokens"]);
    EXPECT_EQ(stable["seed"], event["seed"]);
    EXPECT_EQ(stable["generation_stage"]["generated_tokens"], event["n_tokens"]);
  }
  ASSERT_EQ(payloads.size(), 5u);
  EXPECT_EQ(payloads[0]["stable"]["kv"]["evicted_turns"], 0);
  EXPECT_GT(payloads[2]["stable"]["kv"]["evicted_turns"], 0);
  EXPECT_NE(payloads[0]["volatile"]["transaction_id"], payloads[1]["volatile"]["transaction_id"]);

  const Outcome unready = chat("", "--json --set template.plugin=no.such.plugin");
  ASSERT_EQ(lines_of(unready).size(), 1u) << unready.out;
  EXPECT_EQ(lines_of(unready)[0]["event"], "error");
  EXPECT_EQ(lines_of(unready)[0]["diagnostics"]["stable"]["error_recovery"]["numeric_code"], 17);
}

TEST_F(ChatLines, RowsAreSavedWhereTheyAreWanted) {
  const Outcome saved = chat(std::string(kQuestion) + "\n/save --rows talk\n/save --rows a.json\n");
  EXPECT_EQ(saved.exit, 2);
  EXPECT_THAT(saved.err, ContainsRegex("2 messages written to talk, with [0-9]+ rows, "));
  EXPECT_THAT(saved.err, HasSubstr("a .json file has the messages alone"));
  const Outcome ran = chat("\"/load talk\"\n\"Who?\"\n", "--json");
  EXPECT_EQ(ran.exit, 0) << ran.err;
  for (const json& event : lines_of(ran)) {
    if (event["event"] == "note") {
      EXPECT_THAT(event["text"], ContainsRegex("talk, with [0-9]+ rows"));
    }
    if (event["event"] == "answer") {
      EXPECT_GT(event["n_reused_tokens"], 20);
    }
  }
}

// Oracle: an answer to the same question in a conversation of its own.
TEST_F(ChatLines, ClearBeginsAnew) {
  const std::string options =
      "--json --system 'Be kind.' --set sampling.profile=creative --set "
      "context.length=96 --set generation.max_tokens=24";
  std::string many;
  for (int i = 0; i < 4; ++i) many += "\"Who is Captain?\"\n";
  const auto last_seed = [&](const std::string& input) {
    const Outcome ran = chat(input, options);
    EXPECT_EQ(ran.exit, 0) << ran.err;
    json seed;
    for (const json& event : lines_of(ran)) {
      if (event["event"] == "answer") seed = event["seed"];
    }
    return seed;
  };
  EXPECT_EQ(last_seed(many + "\"/clear\"\n\"Who is Captain?\"\n"), last_seed("\"Who?\"\n"));
  EXPECT_NE(last_seed(many), last_seed("\"Who?\"\n"));
}

TEST_F(ChatLines, AnotherProfileForgetsWhatTheOldOneWasTunedWith) {
  write("tuned.yaml", "plumbline: 1\nextends: " PLUMB_SOURCE_DIR
                      "/configs/pipelines/tiny-world.yaml\n"
                      "sampling: {profile: balanced, tune: {temperature: {t: 0.77}}}\n");
  write("input", "/set sampling.profile=diff-greedy\n/set\n/set sampling.profile=balanced\n/set\n");
  const Outcome done = shell(
      "XDG_STATE_HOME=$PWD/state $PLUMB chat tuned.yaml --set sampling.tune.min_p.p=0.21 "
      "--quiet < input");
  EXPECT_EQ(done.exit, 0) << done.err;
  EXPECT_THAT(done.err, Not(HasSubstr("0.77")));
  EXPECT_THAT(done.err, Not(HasSubstr("0.21")));
}

TEST_F(ChatLines, ToolsAreToldOfAndCallsAbandoned) {
  write("tools.json", R"([{"type": "function", "function": {"name": "find"}}])");
  write("t.jinja",
        "{% for t in tools | default([]) %}<|im_start|>system\n{{ t.function.name }}<|im_end|>\n"
        "{% endfor %}{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n"
        "{% endfor %}<|im_start|>assistant\n");
  const Outcome ran =
      chat("/tools\n/tools tools.json\n/tools\nWho?\n/abandon\n/tools -\n/tools\n/tools t.jinja\n",
           "--set template.path=t.jinja");
  EXPECT_THAT(ran.err, AllOf(HasSubstr("told of no tools\nthe model is told of 1 tool\n\"find\"\n"),
                             HasSubstr("no tools\nthe model is told of no tools"),
                             HasSubstr("abandon cannot happen"), HasSubstr("t.jinja")));
}

TEST_F(ChatLines, CallsThatWereLoadedWaitToo) {
  write("calls.json", R"([{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "",
      "tool_calls": [{"type": "function", "function": {"name": "who", "arguments": {}}}]}])");
  for (const std::string entries : {"/load calls.json\n/abandon\n/abandon\n",
                                    "/load calls.json\n/save talk\n/load talk\n/abandon\n"}) {
    const Outcome ran = chat(entries);
    EXPECT_THAT(ran.err,
                ContainsRegex("the model calls .*who.*: what you enter next is the result"));
    EXPECT_THAT(ran.err, HasSubstr("the model waits for nothing"));
  }
}

TEST_F(ChatLines, AnAnswerUnderItsOtherNameIsGoneOnWith) {
  write(
      "talk.json",
      R"([{"role": "user", "content": "Who?"}, {"role": "model", "content": "Captain belongs"}])");
  const Outcome ran = chat("/load talk.json\n/continue\n");
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, Not(IsEmpty()));
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
