// Large files that are there whole or not at all. Oracle: what POSIX says of the folder.
#include "core/base/os/fresh_file.h"

#include <gmock/gmock.h>

#include "tests/support/temporary_folder.h"

namespace plumbline::os {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class FreshFiles : public testing::Test {
 protected:
  test::TemporaryFolder folder_;
};

TEST_F(FreshFiles, TakesItsPlaceWhenPublished) {
  folder_.write("a", "old");
  auto file = FreshFile::create(folder_.path("a"), 10);
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_TRUE(file->write(7, "xyz", 3));
  ASSERT_TRUE(file->write(0, "ab", 2));
  EXPECT_EQ(folder_.read("a"), "old");
  auto done = std::move(*file).publish();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(folder_.read("a"), std::string("ab\0\0\0\0\0xyz", 10));
  EXPECT_THAT(folder_.files(), ElementsAre("a"));
}

TEST_F(FreshFiles, LeavesNothingUnlessPublished) {
  { ASSERT_TRUE(FreshFile::create(folder_.path("a"), 1000)); }
  EXPECT_THAT(folder_.files(), IsEmpty());
}

TEST_F(FreshFiles, IsWrittenByOneAtATime) {
  auto first = FreshFile::create(folder_.path("a"), 3);
  ASSERT_TRUE(first);
  ASSERT_TRUE(first->write(0, "one", 3));
  const auto second = FreshFile::create(folder_.path("a"), 5);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("another process is writing"));
  ASSERT_TRUE(std::move(*first).publish());
  EXPECT_EQ(folder_.read("a"), "one") << "the loser neither emptied nor removed it";
}

TEST_F(FreshFiles, WritesOverWhatAKilledProcessLeft) {
  folder_.write("a.unfinished", std::string(100, 'x'));
  auto file = FreshFile::create(folder_.path("a"), 4);
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_TRUE(std::move(*file).publish());
  EXPECT_EQ(folder_.read("a"), std::string(4, '\0'));
  EXPECT_THAT(folder_.files(), ElementsAre("a"));
}

TEST_F(FreshFiles, NoRoomIsToldBeforeAnythingIsWritten) {
  for (const uint64_t bytes : {uint64_t{1} << 60, UINT64_MAX}) {
    const auto file = FreshFile::create(folder_.path("a"), bytes);
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, PLUMB_NOT_FOUND);
    EXPECT_THAT(file.error().message, HasSubstr("no room: " + std::to_string(bytes)));
    EXPECT_THAT(folder_.files(), IsEmpty());
  }
}

TEST_F(FreshFiles, WhatIsInTheWayStays) {
  EXPECT_THAT(FreshFile::create(folder_.path("none/a"), 1).error().message,
              HasSubstr("No such file"));
  std::filesystem::create_symlink(folder_.path("b"), folder_.path("a.unfinished"));
  EXPECT_FALSE(FreshFile::create(folder_.path("a"), 1)) << "a link may lead anywhere";
  std::filesystem::create_directory(folder_.path("c.unfinished"));
  EXPECT_FALSE(FreshFile::create(folder_.path("c"), 1));
  folder_.write("precious", "kept");
  std::filesystem::create_hard_link(folder_.path("precious"), folder_.path("d.unfinished"));
  EXPECT_FALSE(FreshFile::create(folder_.path("d"), 1)) << "another file's second name";
  EXPECT_EQ(folder_.read("precious"), "kept");
  EXPECT_THAT(folder_.files(),
              UnorderedElementsAre("a.unfinished", "c.unfinished", "d.unfinished", "precious"));
}

}  // namespace
}  // namespace plumbline::os
