// Oracle: what POSIX says of exit statuses, signals and process groups, seen through /bin/sh.
#include "core/base/os/process.h"

#include <gtest/gtest.h>

#include <string>

namespace plumbline::os {
namespace {

Result<RunResult> shell(const std::string& script, const RunOptions& options = {}) {
  return run({"/bin/sh", "-c", script}, options);
}

TEST(Base_Process, CapturesBothStreamsAndTheExitStatus) {
  const auto result = shell("echo out; echo err >&2; exit 3");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, RunResult::End::kExited);
  EXPECT_EQ(result->code, 3);
  EXPECT_EQ(result->out, "out\n");
  EXPECT_EQ(result->err, "err\n");
  EXPECT_FALSE(result->succeeded());
  EXPECT_EQ(result->describe(), "exit status 3");
}

TEST(Base_Process, NamesTheSignal) {
  const auto result = shell("kill -SEGV $$");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, RunResult::End::kSignalled);
  EXPECT_EQ(result->describe(), "killed by signal 11 (Segmentation fault)");
}

TEST(Base_Process, StandardInputIsEmpty) {
  const auto result = shell("cat; echo end");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->out, "end\n");
}

TEST(Base_Process, AHangingProgramIsKilledWithItsChildren) {
  const auto result = shell("trap '' TERM; sleep 1000 & echo $!; wait",
                            {.timeout = std::chrono::milliseconds(200)});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, RunResult::End::kTimedOut);
  // kill -0 fails once the grandchild is gone; it may be a zombie for a moment until init reaps it.
  const auto alive =
      shell("for i in 1 2 3 4 5 6 7 8 9 10; do grep -qs '^State:.[^ZX]' /proc/" +
            result->out.substr(0, result->out.find('\n')) + "/status || exit 7; sleep 0.1; done");
  ASSERT_TRUE(alive) << alive.error().message;
  EXPECT_EQ(alive->code, 7);
}

TEST(Base_Process, AFloodOfOutputDoesNotHideTheTimeLimit) {
  const auto result =
      shell("yes", {.timeout = std::chrono::milliseconds(100), .capture_bytes = 10});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, RunResult::End::kTimedOut);
}

TEST(Base_Process, AGrandchildThatKeepsThePipesDoesNotKeepUsWaiting) {
  const auto result = shell("sleep 1000 & echo done");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->succeeded());
  EXPECT_EQ(result->out, "done\n");
}

TEST(Base_Process, AProgramThatClosesItsStreamsIsWaitedFor) {
  const auto result = shell("exec >&- 2>&-; sleep 0.1; exit 5");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->code, 5);
}

TEST(Base_Process, CancelKills) {
  int asked = 0;
  const auto result = shell("sleep 1000", {.cancelled = [&] { return ++asked > 1; }});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->end, RunResult::End::kCancelled);
}

TEST(Base_Process, CallbacksSeeEveryByteAndCapturesAreLimited) {
  uint64_t seen = 0;
  const auto streamed = shell("head -c 300000 /dev/zero",
                              {.on_stdout = [&](std::string_view piece) { seen += piece.size(); }});
  ASSERT_TRUE(streamed) << streamed.error().message;
  EXPECT_EQ(seen, 300000u);
  EXPECT_TRUE(streamed->out.empty());

  const auto cut = shell("head -c 300000 /dev/zero", {.capture_bytes = 1000});
  ASSERT_TRUE(cut) << cut.error().message;
  EXPECT_EQ(cut->out.size(), 1000u);
  EXPECT_TRUE(cut->is_cut);
}

TEST(Base_Process, AMissingProgramIsAnError) {
  const auto result = run({"/no/such/program"});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, PLUMB_NOT_FOUND);
  EXPECT_EQ(result.error().message, "cannot run /no/such/program: No such file or directory");
}

}  // namespace
}  // namespace plumbline::os
