// A program that uses os::Terminal, at a terminal of its own. Oracle: what termios says of it, and
// what POSIX says of jobs.
#include "core/base/os/terminal.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "tests/support/pty_program.h"

namespace plumbline::os {
namespace {

using test::PtyProgram;

/// What the program does: tells what happens, in the mode that it is asked for, until 'q'.
int be_program(Terminal::Mode mode) {
  auto terminal = Terminal::open({});
  if (!terminal) return 1;
  Terminal& t = **terminal;
  if (!t.set_mode(mode)) return 1;
  t.write("ready\r\n");
  const auto size = [&] {
    return std::to_string(t.size().n_columns) + "x" + std::to_string(t.size().n_rows);
  };
  std::string told = size();
  for (;;) {
    const Terminal::Happened happened = t.wait(std::chrono::milliseconds(-1));
    if (told != size()) t.write((told = size()) + "\r\n");
    if (happened.is_resumed) t.write("resumed\r\n");
    if (happened.is_interrupted) t.write("interrupted\r\n");
    if (happened.is_timed_out) t.write("too early\r\n");
    if (happened.is_ended) return 7;
    for (const char key : happened.bytes) {
      if (key == 'q') return 0;
      if (key == 'z') {
        t.suspend();
        t.write("back\r\n");
      }
      if (key == '!') std::abort();
      if (key == 't' && t.wait(std::chrono::milliseconds(0)).is_timed_out) t.write("time\r\n");
      t.write("<" + std::to_string(static_cast<unsigned char>(key)) + ">");
    }
  }
}

class Os_Terminal : public testing::Test {
 protected:
  static std::unique_ptr<PtyProgram> start(const char* mode) {
    auto program = std::make_unique<PtyProgram>(
        std::vector<std::string>{"/proc/self/exe"},
        std::vector<std::string>{std::string("PLUMB_TERMINAL_TEST=") + mode});
    program->wait_for("ready");
    return program;
  }
};

TEST_F(Os_Terminal, GivesKeysAsTheyAre) {
  auto program = start("keys");
  EXPECT_FALSE(program->is_terminal_sane());
  EXPECT_TRUE(program->screen().is_paste_bracketed());
  program->type("a\r\x03\x1a\x1c\xff");
  EXPECT_TRUE(program->wait_for("<97><13><3><26><28><255>"));
  program->type("q");
  EXPECT_EQ(program->wait_for_end(), 0);
  EXPECT_TRUE(program->is_terminal_sane());
  EXPECT_EQ(program->written().find("aready"), std::string::npos) << "no echo";
}

TEST_F(Os_Terminal, TellsOfSizesAndInterrupts) {
  auto program = start("answer");
  program->resize(33, 11);
  EXPECT_TRUE(program->wait_for("33x11"));
  program->type("\x03");
  EXPECT_TRUE(program->wait_for("interrupted"));
  program->type("t");
  EXPECT_TRUE(program->wait_for("time"));
  EXPECT_EQ(program->written().find("too early"), std::string::npos);
  program->type("q");
  EXPECT_EQ(program->wait_for_end(), 0);
}

TEST_F(Os_Terminal, EndsInOrder) {
  for (const int signal : {SIGTERM, SIGHUP}) {
    auto program = start("keys");
    program->signal(signal);
    EXPECT_EQ(program->wait_for_end(), 7);
    EXPECT_TRUE(program->is_terminal_sane());
  }
}

TEST_F(Os_Terminal, ACrashLeavesItSane) {
  auto program = start("keys");
  program->type("!");
  EXPECT_EQ(program->wait_for_end(), 128 + SIGABRT);
  EXPECT_TRUE(program->is_terminal_sane());
  auto answering = start("answer");
  answering->type("\x1c");
  EXPECT_EQ(answering->wait_for_end(), 128 + SIGQUIT);
  EXPECT_TRUE(answering->is_terminal_sane());
}

// The program leads a session of its own, whose group no shell would wake again: such a one is not
// stopped (POSIX, orphaned process groups), and must go on as if it had come back.
TEST_F(Os_Terminal, GoesOnWhereNobodyCouldWakeIt) {
  auto program = start("keys");
  program->type("z");
  EXPECT_TRUE(program->wait_for("back"));
  EXPECT_TRUE(program->screen().is_paste_bracketed());
  program->type("q");
  EXPECT_EQ(program->wait_for_end(), 0);
}

TEST_F(Os_Terminal, TellsThatOthersStoppedIt) {
  auto program = start("keys");
  program->signal(SIGSTOP);
  program->signal(SIGCONT);
  EXPECT_TRUE(program->wait_for("resumed"));
  program->type("q");
  EXPECT_EQ(program->wait_for_end(), 0);
}

// Whatever style is being written.
TEST_F(Os_Terminal, IsPlainWhereASignalStopsOrEndsIt) {
  auto program = start("answer");
  program->signal(SIGTSTP);
  EXPECT_TRUE(program->wait_for("\x1b[0m"));
  program->signal(SIGQUIT);
  EXPECT_EQ(program->wait_for_end(), 128 + SIGQUIT);
  EXPECT_TRUE(program->written().ends_with("\x1b[0m"));
}

TEST_F(Os_Terminal, IsGivenBackWhileStopped) {
  // A shell with job control, which itself never changes the terminal.
  PtyProgram shell({"sh", "-i"}, {"PS1=$ ", "PLUMB_TERMINAL_TEST=keys"});
  shell.wait_for("$ ");
  shell.type("/proc/" + std::to_string(::getpid()) + "/exe\r");
  shell.wait_for("ready");
  shell.type("z");
  EXPECT_TRUE(shell.wait_for("Stopped"));
  EXPECT_TRUE(shell.wait_for("$ "));
  EXPECT_TRUE(shell.is_terminal_sane());
  shell.type("fg\r");
  EXPECT_TRUE(shell.wait_for("back"));
  shell.type("k");
  EXPECT_TRUE(shell.wait_for("<107>"));
  EXPECT_EQ(shell.written().find("resumed"), std::string::npos) << "who suspends it knows";
  shell.type("q");
  EXPECT_TRUE(shell.wait_for("$ "));
  shell.type("exit\r");
  EXPECT_EQ(shell.wait_for_end(), 0);
}

}  // namespace
}  // namespace plumbline::os

int main(int argc, char** argv) {
  using plumbline::os::Terminal;
  if (const char* mode = std::getenv("PLUMB_TERMINAL_TEST")) {
    const bool is_keys = std::string_view(mode) == "keys";
    return plumbline::os::be_program(is_keys ? Terminal::Mode::kKeys : Terminal::Mode::kAnswer);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
