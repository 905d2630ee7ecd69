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

TEST_F(FreshFiles, EachWriterHasItsOwn) {
  auto first = FreshFile::create(folder_.path("a"), 3);
  auto second = FreshFile::create(folder_.path("a"), 5);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(folder_.files().size(), 2u);
  ASSERT_TRUE(first->write(0, "one", 3));
  ASSERT_TRUE(std::move(*first).publish());
  EXPECT_EQ(folder_.read("a"), "one");
  ASSERT_TRUE(second->write(0, "other", 5));
  ASSERT_TRUE(std::move(*second).publish());
  EXPECT_EQ(folder_.read("a"), "other");
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
  folder_.write("a.unfinished", "kept");
  folder_.write("precious", "kept");
  for (const char* name : {"b.unfinished", "b.new"})
    std::filesystem::create_symlink(folder_.path("precious"), folder_.path(name));
  for (const char* name : {"a", "b"}) {
    auto file = FreshFile::create(folder_.path(name), 4);
    ASSERT_TRUE(file) << file.error().message;
    ASSERT_TRUE(std::move(*file).publish());
  }
  EXPECT_EQ(folder_.read("a.unfinished"), "kept") << "a user's own file";
  EXPECT_EQ(folder_.read("precious"), "kept") << "a link may lead anywhere";
  EXPECT_THAT(folder_.files(),
              UnorderedElementsAre("a", "a.unfinished", "b", "b.unfinished", "b.new", "precious"));
}

}  // namespace
}  // namespace plumbline::os
