// plumb chat at a pseudo terminal. Oracle: transformers' greedy answers (golden/models/tiny-world),
// what a person sees in the window, and what termios says of the terminal afterwards.
#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>

#include "tests/end_to_end/chat_desk.h"

namespace plumbline::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kControlC = "\x03", kControlD = "\x04", kUp = "\x1b[A";
const std::string kDim = "\x1b[2m", kPlain = "\x1b[0m";
// What a hostile answer would be made of: an empty window, and a bell.
const std::string kHostile = "\x1b[2J\aX";

class ChatTerminal : public ChatDesk {
 protected:
  /// Types, and waits for what comes of it and for the next prompt.
  static void say(PtyProgram& desk, const std::string& entry, std::string_view seen) {
    desk.type(entry + "\r");
    EXPECT_TRUE(desk.wait_for(seen)) << entry;
    EXPECT_TRUE(desk.wait_for("> ")) << entry;
  }
  /// A --set with which the answer is this text.
  std::string saying(const std::string& text) const {
    write("text.jsonl", nlohmann::json{{"text", text}}.dump() + "\n");
    const Outcome ran = shell("$PLUMB tokenize tiny-world --jsonl < text.jsonl");
    const nlohmann::json ids = nlohmann::json::parse(ran.out)["ids"];
    return "sampling.stages=[{scripted: {ids: " + ids.dump() + "}}]";
  }
  static void leave(PtyProgram& desk, int exit = 0) {
    desk.type(kControlD);
    EXPECT_EQ(desk.wait_for_end(), exit);
    EXPECT_TRUE(desk.is_terminal_sane());
    EXPECT_EQ(desk.screen().unknown(), "");
  }
};

TEST_F(ChatTerminal, AnswersAndKnowsEveryCommand) {
  auto desk = sit_down();
  say(*desk, kQuestion, kAnswer);
  EXPECT_THAT(desk->screen().text_with_cursor(), HasSubstr(" tokens"));
  say(*desk, "/help", "/undo [N]");
  say(*desk, "/help set", "temperature.t=0.5");
  say(*desk, "/stats", "1, 22 tokens");
  say(*desk, "/show", std::string("assistant: ") + kAnswer);
  say(*desk, "/retry", kAnswer);
  say(*desk, "/edit Where does Mara live?", " tokens");
  say(*desk, "/undo", "taken back: Where does Mara live?");
  say(*desk, "/undo", "error: ");
  say(*desk, "/system You know it all.", "is set");
  say(*desk, "/system", "You know it all.");
  say(*desk, "/system -", "no system message");
  say(*desk, kQuestion, kAnswer);
  say(*desk, "/save talk.json", "2 messages written to talk.json");
  say(*desk, "/clear", "a new conversation");
  say(*desk, "/show", "nothing was said yet");
  say(*desk, "/load talk.json", "2 messages read from talk.json");
  say(*desk, "/show", kAnswer);
  say(*desk, "/save talk", "2 messages written to talk");
  say(*desk, "/undo", "taken back");
  say(*desk, "/load talk", "2 messages read from talk");
  say(*desk, "/set generation.max_tokens=3", "set");
  say(*desk, "/retry", "3 tokens");
  EXPECT_THAT(desk->written(), HasSubstr("/continue goes on"));
  say(*desk, "/continue", "3 tokens");
  say(*desk, "/set", "generation.max_tokens");
  say(*desk, "/set generation.max_tokens=30", "set");
  say(*desk, "/set generation.stop=[belongs]", "set");
  // Of what was gone on with, the beginning stays.
  say(*desk, "/retry", " a one-eyed gull. Captain\r\n");
  say(*desk, "/set sampling.profile=balanced", "set");
  say(*desk, "/set temperature.t=0.25", "set");
  say(*desk, "/set", "0.25");
  say(*desk, "/set sampling.profile=diff-greedy", "set");
  say(*desk, "/set kernels.backend=reference", "the model would have to be loaded anew");
  say(*desk, "/set sampling.sed=3", "did you mean");
  say(*desk, "/set generation.max_tokens=many", "error: ");
  say(*desk, "/set x", "expected KEY=VALUE");
  say(*desk, "/nothing", "no such command");
  say(*desk, "/undo many", "expected how many");
  say(*desk, "/save", "expected a file's name");
  say(*desk, "/save no/such/folder/talk.json", "error: no/such/folder/talk.json");
  say(*desk, "/load nothing.json", "error: nothing.json");
  desk->type("/quit\r");
  EXPECT_EQ(desk->wait_for_end(), 0);
  EXPECT_TRUE(desk->is_terminal_sane());
  EXPECT_EQ(desk->screen().unknown(), "");
}

TEST_F(ChatTerminal, EditsTheLastMessageInPlace) {
  auto desk = sit_down();
  say(*desk, "Who is Captaim?", " tokens");
  desk->type("/edit\r");
  EXPECT_TRUE(desk->wait_for("edit> Who is Captaim?"));
  desk->type(
      "\x1b[D\x7f"
      "n\r");
  EXPECT_TRUE(desk->wait_for(kAnswer));
  EXPECT_TRUE(desk->wait_for("> "));
  desk->type("/edit\r");
  EXPECT_TRUE(desk->wait_for("edit> "));
  desk->type(kControlC);
  EXPECT_TRUE(desk->wait_for("> "));
  say(*desk, "/show", std::string("user: ") + kQuestion);
  leave(*desk);
}

TEST_F(ChatTerminal, ControlCEndsTheAnswerOnly) {
  auto desk = sit_down(endless());
  desk->type(std::string(kQuestion) + "\r");
  desk->wait_for(kAnswer);
  desk->type(kControlC);
  EXPECT_TRUE(desk->wait_for(", cancelled"));
  EXPECT_TRUE(desk->wait_for("> "));
  say(*desk, "/show", kAnswer);
  say(*desk, "/set generation.max_tokens=3", "set");
  say(*desk, "/retry", "3 tokens");
  // In an entry it empties it; in an empty one it warns, then leaves.
  desk->type("half an entry" + kControlC);
  EXPECT_TRUE(desk->wait_for("half an entry"));
  desk->type(kControlC);
  EXPECT_TRUE(desk->wait_for("once more"));
  desk->type("x\x7f" + kControlC);
  EXPECT_TRUE(desk->wait_for("once more"));
  desk->type(kControlC);
  EXPECT_EQ(desk->wait_for_end(), 0);
  EXPECT_TRUE(desk->is_terminal_sane());
}

TEST_F(ChatTerminal, SignalsLeaveTheTerminalSane) {
  for (const int signal : {SIGTERM, SIGHUP}) {
    auto at_prompt = sit_down();
    at_prompt->type("half an entry");
    at_prompt->wait_for("half an entry");
    at_prompt->signal(signal);
    EXPECT_EQ(at_prompt->wait_for_end(), 130);
    EXPECT_TRUE(at_prompt->is_terminal_sane());
    auto answering = sit_down(endless());
    answering->type(std::string(kQuestion) + "\r");
    answering->wait_for(kAnswer);
    answering->signal(signal);
    EXPECT_EQ(answering->wait_for_end(), 130);
    EXPECT_TRUE(answering->is_terminal_sane());
  }
}

TEST_F(ChatTerminal, TakesAPasteAsItIs) {
  auto desk = sit_down();
  desk->type("\x1b[200~Grüße\r你好 👨‍👩‍👧‍👦\x1b[31m\rend\x1b[201~");
  desk->wait_for("end");
  EXPECT_THAT(desk->screen().text_with_cursor(),
              HasSubstr("> Grüße\n  你好 👨‍👩‍👧‍👦\uFFFD[31m\n  end|"));
  desk->type("\r");
  desk->wait_for(" tokens");
  desk->wait_for("> ");
  say(*desk, "/save talk.json", "written");
  EXPECT_EQ(nlohmann::json::parse(read_file(path("talk.json")))[0]["content"],
            "Grüße\n你好 👨‍👩‍👧‍👦\uFFFD[31m\nend");
  leave(*desk);
}

TEST_F(ChatTerminal, AMegabyteIsTakenAndToldThatItDoesNotFit) {
  auto desk = sit_down();
  std::string book;
  while (book.size() < (size_t{1} << 20)) book += "Captain belongs to Lukas. ";
  desk->type("\x1b[200~" + book + "\x1b[201~\r");
  EXPECT_TRUE(desk->wait_for("error: "));
  EXPECT_TRUE(desk->wait_for("> "));
  say(*desk, kQuestion, kAnswer);
  leave(*desk);
}

TEST_F(ChatTerminal, RepaintsWhenTheWindowChanges) {
  auto desk = sit_down();
  const std::string entry = "an entry of quite some words, so that it needs more than one row";
  desk->type(entry);
  desk->wait_for("than one row");
  for (const size_t n_columns : {30u, 20u, 100u}) {
    desk->resize(n_columns, n_columns == 20 ? 5 : 24);
    std::string joined;
    desk->wait_until(
        [&](const Screen& screen) {
          // Rows joined again are the entry, once.
          joined.clear();
          for (const char byte : screen.text_with_cursor()) joined += byte == '\n' ? ' ' : byte;
          std::string single;
          std::unique_copy(joined.begin(), joined.end(), std::back_inserter(single),
                           [](char a, char b) { return a == ' ' && b == ' '; });
          const size_t at = single.find("> an entry");
          return n_columns == 20 ? single.ends_with("than one row|")
                                 : at != single.npos && single.ends_with("than one row|") &&
                                       single.find("an entry", at + 3) == single.npos;
        },
        "the entry, in the new width");
  }
  desk->type(kControlC);
  leave(*desk);
}

TEST_F(ChatTerminal, RepaintsWhenItGoesOn) {
  auto desk = sit_down();
  desk->type("half an entry");
  desk->wait_for("y");
  // The shell writes below it meanwhile.
  desk->signal(SIGSTOP);
  desk->signal(SIGCONT);
  EXPECT_TRUE(desk->wait_for("> half an entry"));
  desk->type(kControlC);
  leave(*desk);
}

TEST_F(ChatTerminal, FitsIntoASmallWindow) {
  auto desk = sit_down({}, 20, 5);
  say(*desk, kQuestion, "one-eyed");
  // Between words, with nothing lost.
  const std::string text = desk->screen().all_text();
  EXPECT_THAT(text, HasSubstr("Captain is a\none-eyed gull.\nCaptain belongs to\nLukas."));
  desk->type(std::string(300, 'x') + "\x01y");
  desk->wait_for("y");
  EXPECT_THAT(desk->screen().text_with_cursor(), HasSubstr("> y|xxxx"));
  desk->type(kControlC);
  leave(*desk);
}

TEST_F(ChatTerminal, KeepsItsHistoryWhateverHappens) {
  auto desk = sit_down();
  say(*desk, kQuestion, kAnswer);
  desk->type("two\x1b\rlines\r");
  desk->wait_for(" tokens");
  desk->wait_for("> ");
  desk->signal(SIGKILL);
  EXPECT_EQ(desk->wait_for_end(), 128 + SIGKILL);
  EXPECT_EQ(read_file(history()), std::string(kQuestion) + "\ntwo\\nlines\n");
  EXPECT_EQ(std::filesystem::status(history()).permissions(), std::filesystem::perms(0600));

  auto again = sit_down();
  again->type(kUp);
  EXPECT_TRUE(again->wait_for("lines"));
  again->type(kUp + kUp);
  EXPECT_TRUE(again->wait_for(kQuestion));
  again->type("\x05" + kControlC);
  again->type(
      "\x12"
      "Capt");
  EXPECT_TRUE(again->wait_for("search: Capt"));
  again->type("\r");
  EXPECT_TRUE(again->wait_for(kAnswer));
  again->wait_for("> ");
  leave(*again);
  EXPECT_EQ(read_file(history()), std::string(kQuestion) + "\ntwo\\nlines\n" + kQuestion + "\n");

  auto secret = sit_down({"--no-history"});
  secret->type(kUp);
  say(*secret, kQuestion, kAnswer);
  leave(*secret);
  EXPECT_EQ(read_file(history()), std::string(kQuestion) + "\ntwo\\nlines\n" + kQuestion + "\n");
}

TEST_F(ChatTerminal, CompletesCommandsAndKeys) {
  auto desk = sit_down();
  desk->type("/sy\t");
  EXPECT_TRUE(desk->wait_for("/system "));
  desk->type("\x15/s\t\t");
  EXPECT_TRUE(desk->wait_for("/show"));
  desk->type("\x15/set gen\t");
  EXPECT_TRUE(desk->wait_for("generation."));
  desk->type("\x15");
  leave(*desk);
}

TEST_F(ChatTerminal, ThoughtsAreDimPieceByPiece) {
  auto desk = sit_down({"--set", "parser.plugin=plumb.parsers.tags", "--set",
                        saying("<think>Who was that again?</think>A gull.")});
  desk->type("hello\r");
  EXPECT_TRUE(desk->wait_for("gull."));
  desk->wait_for("> ");
  leave(*desk);
  // Wherever it is stopped, the shell is not dim.
  const std::string& bytes = desk->written();
  size_t n_pieces = 0;
  for (size_t at = bytes.find(kDim); at != bytes.npos; at = bytes.find(kDim, at + 1)) {
    const size_t next = bytes.find("\x1b", at + 1);
    EXPECT_EQ(bytes.substr(next, kPlain.size()), kPlain);
    ++n_pieces;
  }
  EXPECT_GT(n_pieces, 4u) << "words of the thought, beside the meter and the speed";
  const size_t thought = bytes.find(kDim + "Who");
  ASSERT_NE(thought, bytes.npos);
  EXPECT_LT(thought, bytes.find("gull."));
}

TEST_F(ChatTerminal, ControlCAbandonsACallOfATool) {
  auto desk = sit_down({"--set", "parser.plugin=plumb.parsers.tags", "--set",
                        "generation.max_tokens=200", "--set",
                        saying("I look.<tool_call>{\"name\": \"find\"}</tool_call>")});
  say(*desk, "Where?", "/abandon goes on without");
  desk->type("half a result" + kControlC);
  EXPECT_TRUE(desk->wait_for("half a result"));
  desk->type(kControlC);
  EXPECT_TRUE(desk->wait_for("the model waits for nothing"));
  EXPECT_TRUE(desk->wait_for("> "));
  say(*desk, "/show", "assistant: I look.");
  say(*desk, "/abandon", "abandon cannot happen");
  say(*desk, "Where?", "/abandon goes on without");
  say(*desk, "/abandon", "the model waits for nothing");
  leave(*desk);
}

TEST_F(ChatTerminal, NothingThatRunWritesIsObeyed) {
  PtyProgram run(command("run", {"-q", "-p", "hello", "--set", saying(kHostile)}),
                 {"XDG_DATA_HOME=" + path(".")});
  EXPECT_EQ(run.wait_for_end(), 0);
  EXPECT_THAT(run.written(),
              AllOf(HasSubstr("?[2J?X"), Not(HasSubstr("\x1b")), Not(HasSubstr("\a"))));
  // A pipe gets the bytes themselves.
  const Outcome piped = shell("$PLUMB run tiny-world -q -p hello --set '" + saying(kHostile) + "'");
  EXPECT_EQ(piped.out, "\x1b[2J\aX\n");
}

TEST_F(ChatTerminal, NothingOfTheModelsIsObeyed) {
  auto desk = sit_down({"--set", saying(kHostile)});
  desk->type("hello\r");
  EXPECT_TRUE(desk->wait_for("?[2J?X"));
  desk->wait_for("> ");
  say(*desk, "/show", "assistant: ?[2J?X");
  EXPECT_EQ(desk->screen().n_bells(), 0u);
  leave(*desk);
}

TEST_F(ChatTerminal, ADumbTerminalGetsNoSequences) {
  auto desk = sit_down({"--quiet"}, 80, 24, {"TERM=dumb"});
  desk->type(std::string(kQuestion) + "\r");
  EXPECT_TRUE(desk->wait_for(kAnswer));
  desk->type(kControlD);
  EXPECT_EQ(desk->wait_for_end(), 0);
  EXPECT_THAT(desk->written(), Not(HasSubstr("\x1b")));
}

TEST_F(ChatTerminal, NoColourWhereNoneIsWanted) {
  auto desk = sit_down({}, 80, 24, {"NO_COLOR=1"});
  leave(*desk);
  EXPECT_THAT(desk->written(), Not(HasSubstr("\x1b[2m")));
}

}  // namespace
}  // namespace plumbline::test
