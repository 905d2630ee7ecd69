// Where output goes wrong: interrupts, readers that leave, full disks; and characters of several
// bytes. Oracle: transformers' greedy text; POSIX; well-formed UTF-8.
#include <gmock/gmock.h>
#include <signal.h>

#include <charconv>

#include "plumb/sdk/utf8.h"
#include "tests/end_to_end/plumb_command.h"

namespace plumbline::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Output : public PlumbCommand {
 protected:
  void expect_clean_end(int signal);
};

void Output::expect_clean_end(int signal) {
  // A run that was over before the signal came shows nothing; so there are several tries.
  for (int i = 0; i < 20; ++i) {
    std::string text;
    bool is_sent = false;
    const Outcome ran = shell(
        "echo $$; exec $PLUMB run tiny-world --raw -q -p 'Once upon a time' --set "
        "generation.max_tokens=200 "
        "--set kernels.backend=reference --set kernels.activations=f32",
        [&](std::string_view piece) {
          text += piece;
          const size_t line_end = text.find('\n');
          int pid = 0;
          if (is_sent || line_end == std::string::npos || line_end + 1 == text.size()) return;
          std::from_chars(text.data(), text.data() + line_end, pid);
          is_sent = pid > 0 && ::kill(pid, signal) == 0;
        });
    if (ran.exit == 0) continue;
    EXPECT_EQ(ran.exit, 130);
    EXPECT_THAT(ran.err, IsEmpty());
    text.erase(0, text.find('\n') + 1);
    ASSERT_TRUE(text.ends_with('\n'));
    text.pop_back();
    const std::string golden = golden_line("models/tiny-world/greedy.jsonl", "story")["text"];
    const size_t n = std::min(text.size(), golden.size());
    EXPECT_EQ(text.substr(0, n), golden.substr(0, n));
    return;
  }
  FAIL() << "no run could be interrupted";
}

TEST_F(Output, ASignalEndsAGenerationCleanly) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) expect_clean_end(signal);
}

TEST_F(Output, CharactersOfSeveralBytesComeWhole) {
  const Outcome encoded = shell("$PLUMB tokenize tiny-world -p 'é€😀é'");
  ASSERT_EQ(encoded.exit, 0) << encoded.err;
  const nlohmann::json ids = nlohmann::json::parse(encoded.out)["ids"];
  ASSERT_GT(ids.size(), 4u) << "the tiny vocabulary has these characters only in pieces";
  std::string text;
  const Outcome ran =
      shell("$PLUMB run tiny-world --raw -q -p Mara --set 'sampling.stages=[scripted: {ids: " +
                ids.dump() + "}]'",
            [&](std::string_view piece) {
              EXPECT_TRUE(utf8::is_well_formed(piece)) << piece;
              text += piece;
            });
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(text, "é€😀é\n");
}

TEST_F(Output, AReaderThatLeavesIsNoError) {
  const Outcome ran = shell("$PLUMB run tiny-world --raw -q -p 'Once upon a time' | head -c 1");
  EXPECT_EQ(ran.out, " ");
  EXPECT_THAT(ran.err, IsEmpty());
}

TEST_F(Output, AFullDiskIsToldOf) {
  for (const char* line : {"$PLUMB run tiny-world --raw -q -p Mara > /dev/full",
                           "$PLUMB logits tiny-world -p Mara > /dev/full",
                           "$PLUMB config show tiny-world > /dev/full"}) {
    const Outcome ran = shell(line);
    EXPECT_EQ(ran.exit, 4) << line;
    EXPECT_EQ(ran.err, "plumb: error: cannot write to stdout\n") << line;
  }
}

TEST_F(Output, AFileThatCannotBeWrittenLeavesNothing) {
  // No file may grow beyond one block, as on a disk that is all but full.
  const Outcome ran =
      shell("trap '' XFSZ; ulimit -f 1; $PLUMB logits tiny-world -p Mara --all -o rows.npy");
  EXPECT_EQ(ran.exit, 4);
  EXPECT_THAT(ran.err, testing::MatchesRegex("plumb: error: [^\n]*rows.npy[^\n]*\n"));
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(Output, AFailedWriteKeepsWhatWasThere) {
  write("rows.npy", "precious");
  EXPECT_EQ(
      shell("trap '' XFSZ; ulimit -f 1; $PLUMB logits tiny-world -p Mara --all -o rows.npy").exit,
      4);
  EXPECT_EQ(read_file(path("rows.npy")), "precious");
  EXPECT_THAT(files(), ElementsAre("rows.npy"));
}

TEST_F(Output, AFolderWithoutRightsIsNamed) {
  const Outcome ran = shell("$PLUMB logits tiny-world -p Mara -o /proc/rows.npy");
  EXPECT_EQ(ran.exit, 4);
  EXPECT_THAT(ran.err, HasSubstr("/proc/rows.npy"));
}

}  // namespace
}  // namespace plumbline::test
