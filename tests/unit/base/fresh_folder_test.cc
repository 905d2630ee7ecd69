// Folders that are there whole or not at all. Oracle: what POSIX says of what lies around them.
#include "core/base/os/fresh_folder.h"

#include <gmock/gmock.h>

#include "tests/support/temporary_folder.h"

namespace plumbline::os {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class FreshFolders : public testing::Test {
 protected:
  static void fill(const FreshFolder& fresh, const std::string& text) {
    fs::create_directory(fresh.path() + "/inner");
    std::ofstream(fresh.path() + "/inner/file") << text;
  }
  test::TemporaryFolder folder_;
};

TEST_F(FreshFolders, TakesItsPlaceWhenPublished) {
  for (const char* name : {"a", "b/"}) {
    auto fresh = FreshFolder::create(folder_.path(name));
    ASSERT_TRUE(fresh) << fresh.error().message;
    fill(*fresh, "text");
    EXPECT_FALSE(fs::exists(folder_.path(name)));
    const auto done = std::move(*fresh).publish();
    ASSERT_TRUE(done) << done.error().message;
  }
  EXPECT_EQ(folder_.read("a/inner/file"), "text");
  EXPECT_THAT(folder_.files(), ElementsAre("a", "b"));
}

TEST_F(FreshFolders, LeavesNothingUnlessPublished) {
  {
    auto fresh = FreshFolder::create(folder_.path("a"));
    ASSERT_TRUE(fresh);
    fill(*fresh, "text");
    const FreshFolder moved = std::move(*fresh);
    EXPECT_THAT(folder_.files(), ElementsAre(testing::MatchesRegex("a\\.[0-9]+\\.unfinished")));
  }
  EXPECT_THAT(folder_.files(), IsEmpty());
}

TEST_F(FreshFolders, TheFirstToFinishHasThePlace) {
  auto first = FreshFolder::create(folder_.path("a"));
  auto second = FreshFolder::create(folder_.path("a"));
  ASSERT_TRUE(first && second);
  fill(*first, "one");
  fill(*second, "other");
  ASSERT_TRUE(std::move(*first).publish());
  EXPECT_FALSE(std::move(*second).publish());
  EXPECT_EQ(folder_.read("a/inner/file"), "one");
}

TEST_F(FreshFolders, ReplacesNothing) {
  folder_.write("file", "precious");
  fs::create_directory(folder_.path("full"));
  folder_.write("full/file", "precious");
  fs::create_symlink("nowhere", folder_.path("link"));
  for (const char* name : {"file", "full", "link", "full/"}) {
    const auto fresh = FreshFolder::create(folder_.path(name));
    ASSERT_FALSE(fresh) << name;
    EXPECT_EQ(fresh.error().code, PLUMB_NOT_FOUND);
    EXPECT_THAT(fresh.error().message, HasSubstr("is there already"));
  }
  fs::create_directory(folder_.path("empty"));
  ASSERT_TRUE(FreshFolder::create(folder_.path("empty")));
  // Filled in the meantime.
  auto fresh = FreshFolder::create(folder_.path("empty"));
  ASSERT_TRUE(fresh);
  folder_.write("empty/file", "precious");
  EXPECT_FALSE(std::move(*fresh).publish());
  EXPECT_EQ(folder_.read("empty/file"), "precious");
}

TEST_F(FreshFolders, WhatHasASimilarNameStays) {
  for (const char* name : {"elsewhere", "a.unfinished"}) {
    fs::create_directory(folder_.path(name));
    folder_.write(std::string(name) + "/file", "precious");
  }
  fs::create_directory_symlink("elsewhere", folder_.path("b.unfinished"));
  for (const char* name : {"a", "b"}) {
    auto fresh = FreshFolder::create(folder_.path(name));
    ASSERT_TRUE(fresh) << fresh.error().message;
    fill(*fresh, "text");
    ASSERT_TRUE(std::move(*fresh).publish());
  }
  EXPECT_EQ(folder_.read("a.unfinished/file"), "precious");
  EXPECT_EQ(folder_.read("elsewhere/file"), "precious");
  EXPECT_THAT(folder_.files(),
              testing::UnorderedElementsAre("a", "a.unfinished", "b", "b.unfinished", "elsewhere"));
}

TEST_F(FreshFolders, SaysWhereItCannotBe) {
  EXPECT_THAT(FreshFolder::create(folder_.path("no/a")).error().message, HasSubstr("no/a"));
  EXPECT_FALSE(FreshFolder::create(""));
  EXPECT_FALSE(FreshFolder::create("/proc/a"));
}

}  // namespace
}  // namespace plumbline::os
