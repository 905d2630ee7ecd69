// Oracle: what POSIX says of streams, exit statuses and process groups, seen through /bin/sh.
#include "core/base/os/child.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "core/base/os/process.h"

namespace plumbline::os {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

std::unique_ptr<Child> shell(const std::string& script) {
  auto child = Child::start({"/bin/sh", "-c", script});
  EXPECT_TRUE(child) << (child ? "" : child.error().message);
  return *std::move(child);
}

Deadline soon() {
  return Deadline(seconds(60));
}

TEST(Base_Child, TalksBothWays) {
  const auto child = shell("while read line; do echo \"<$line>\"; done; echo bye >&2");
  for (const char* word : {"one", "two"}) {
    ASSERT_TRUE(child->write(std::string(word) + "\n", soon()));
    const auto line = child->read_line(100, soon());
    ASSERT_TRUE(line) << line.error().message;
    EXPECT_EQ(*line, "<" + std::string(word) + ">");
  }
  EXPECT_TRUE(child->finish(seconds(60)));
  EXPECT_EQ(child->errors(), "bye\n");
}

TEST(Base_Child, ReadsBytesBehindALine) {
  const auto child = shell("printf 'four\\nabcdnext\\n'");
  EXPECT_EQ(*child->read_line(100, soon()), "four");
  std::string bytes(4, ' ');
  ASSERT_TRUE(child->read(bytes, soon()));
  EXPECT_EQ(bytes, "abcd");
  EXPECT_EQ(*child->read_line(100, soon()), "next");
}

TEST(Base_Child, CarriesMoreThanAPipeHoldsInBothDirections) {
  const auto child = shell("exec cat");
  const std::string sent(40000,
                         'x');  // below what a pipe holds, so that no one waits for the other
  std::string back(sent.size(), ' ');
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(child->write(sent, soon()));
    ASSERT_TRUE(child->read(back, soon()));
    ASSERT_EQ(back, sent);
  }
}

TEST(Base_Child, AProgramThatHasEndedIsNoSignal) {
  const auto child = shell("echo why >&2; exit 3");
  const auto line = child->read_line(100, soon());
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().message, "the program has ended: exit status 3");
  EXPECT_EQ(child->errors(), "why\n");
  const auto written = child->write(std::string(1 << 20, 'x'), soon());
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, "the program has ended: exit status 3");
}

TEST(Base_Child, NamesTheSignal) {
  const auto line = shell("kill -SEGV $$")->read_line(100, soon());
  ASSERT_FALSE(line);
  EXPECT_THAT(line.error().message, HasSubstr("killed by signal 11"));
}

TEST(Base_Child, AGrandchildThatKeepsTheStreamsDoesNotKeepUsWaiting) {
  const auto line = shell("sleep 1000 & exit 7")->read_line(100, soon());
  ASSERT_FALSE(line);
  EXPECT_THAT(line.error().message, HasSubstr("exit status 7"));
}

TEST(Base_Child, ASilentProgramMeetsItsTimeLimitAndIsKilledWithItsChildren) {
  auto child = shell("trap '' TERM; sleep 1000 & echo $!; wait");
  const auto grandchild = child->read_line(100, soon());
  ASSERT_TRUE(grandchild);
  const auto line = child->read_line(100, Deadline(milliseconds(50)));
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().message, "no answer within 50 ms, the time limit");
  child.reset();
  // It may be a zombie for a moment until init reaps it.
  const auto alive = run({"/bin/sh", "-c",
                          "for i in 1 2 3 4 5 6 7 8 9 10; do grep -qs '^State:.[^ZX]' /proc/" +
                              *grandchild + "/status || exit 7; sleep 0.1; done"});
  ASSERT_TRUE(alive) << alive.error().message;
  EXPECT_EQ(alive->code, 7);
}

TEST(Base_Child, AProgramThatDoesNotReadMeetsTheTimeLimitToo) {
  const auto written =
      shell("sleep 1000")->write(std::string(16 << 20, 'x'), Deadline(milliseconds(50)));
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("time limit"));
}

TEST(Base_Child, AFloodOfErrorsIsReadAndOnlyItsEndKept) {
  const auto child = shell("head -c 3000000 /dev/zero | tr '\\0' e >&2; echo end >&2; echo done");
  const auto line = child->read_line(100, soon());
  ASSERT_TRUE(line) << line.error().message;
  EXPECT_EQ(*line, "done");
  EXPECT_TRUE(child->finish(seconds(60)));
  EXPECT_EQ(child->errors().size(), Child::kErrorsKept);
  EXPECT_TRUE(child->errors().ends_with("eend\n"));
}

TEST(Base_Child, ALineHasALimit) {
  const auto line = shell("yes | tr -d '\\n'")->read_line(1000, soon());
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().code, PLUMB_CORRUPT);
}

TEST(Base_Child, WaitingCanBeCancelled) {
  int asked = 0;
  const auto line = shell("sleep 1000")->read_line(100, Deadline(seconds(60), [&](milliseconds) {
                                                     return ++asked > 1;
                                                   }));
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().code, PLUMB_CANCELLED);
}

TEST(Base_Child, ManyProgramsLeaveNoDescriptors) {
  const auto n_open = [] {
    const std::filesystem::directory_iterator fds("/proc/self/fd");
    return std::distance(begin(fds), end(fds));
  };
  const auto before = n_open();
  for (int i = 0; i < 20; ++i) shell("exec cat");
  EXPECT_EQ(n_open(), before);
}

TEST(Base_Child, WhatIsMissingIsNamed) {
  const auto child = Child::start({"/no/such/program"});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().code, PLUMB_NOT_FOUND);
}

}  // namespace
}  // namespace plumbline::os
