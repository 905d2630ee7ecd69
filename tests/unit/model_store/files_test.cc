// Locks, mapped files, and files that are there whole or not at all. Oracle:
// core/base/os/file_lock.h, mapped_file.h and durable.h.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/os/durable.h"
#include "core/base/os/file_lock.h"
#include "core/base/os/mapped_file.h"

namespace plumbline::os {
namespace {

namespace fs = std::filesystem;

std::string contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(Os_FileLock, IsHeldByOneAtATime) {
  const std::string path = ::testing::TempDir() + "plumb-lock";
  {
    const auto first = FileLock::try_lock(path);
    ASSERT_TRUE(first && first->has_value());
    const auto second = FileLock::try_lock(path);
    ASSERT_TRUE(second.has_value());
    EXPECT_FALSE(second->has_value());
  }
  const auto after = FileLock::try_lock(path);
  EXPECT_TRUE(after && after->has_value());
  EXPECT_EQ(FileLock::try_lock("/proc/no/such/place").error().code, PLUMB_NOT_FOUND);
}

TEST(Os_Durable, PublishedFileReplacesTheOldOne) {
  const std::string path = ::testing::TempDir() + "plumb-durable";
  std::ofstream(path + ".new") << "the user's own";
  ASSERT_TRUE(write_file(path, "old"));
  ASSERT_TRUE(write_file(path, "new and longer"));
  EXPECT_EQ(contents(path), "new and longer");
  EXPECT_EQ(contents(path + ".new"), "the user's own");
}

TEST(Os_Durable, FailureLeavesTheOldOne) {
  const std::string path = ::testing::TempDir() + "plumb-durable-kept";
  ASSERT_TRUE(write_file(path, "old"));
  const auto published = publish_file(path + ".missing", path);
  ASSERT_FALSE(published.has_value());
  EXPECT_EQ(contents(path), "old");
  EXPECT_FALSE(write_file("/proc/plumb-cannot-write-here", "x").has_value());
}

TEST(Os_Durable, PiecesMakeOneFileOrNone) {
  const std::string path = ::testing::TempDir() + "plumb-durable-pieces";
  const auto write = [&](const PieceSink& sink) -> Result<void> {
    PLUMB_TRY(sink("two "));
    return sink("pieces");
  };
  ASSERT_TRUE(write_file(path, 10, write));
  EXPECT_EQ(contents(path), "two pieces");
  for (const uint64_t wrong : {9, 11}) {
    const auto written = write_file(path, wrong, [&](const PieceSink& sink) -> Result<void> {
      PLUMB_TRY(sink("other"));
      return sink("bytes");
    });
    ASSERT_FALSE(written.has_value());
    EXPECT_EQ(written.error().code, PLUMB_INTERNAL);
  }
  const auto failed = write_file(path, 10, [](const PieceSink& sink) -> Result<void> {
    PLUMB_TRY(sink("half"));
    return Error{PLUMB_NUMERIC, "the rest is gone"};
  });
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, PLUMB_NUMERIC);
  EXPECT_EQ(contents(path), "two pieces");
}

TEST(Os_Durable, AReplacedFileKeepsItsPermissions) {
  const std::string path = ::testing::TempDir() + "plumb-durable-private";
  ASSERT_TRUE(write_file(path, "old"));
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  ASSERT_TRUE(write_file(path, "new"));
  EXPECT_EQ(contents(path), "new");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(Os_Durable, AProtectedFileIsNotReplaced) {
  if (::geteuid() == 0) GTEST_SKIP() << "nothing is protected from the superuser";
  const std::string path = ::testing::TempDir() + "plumb-durable-protected";
  fs::remove(path);
  ASSERT_TRUE(write_file(path, "old"));
  fs::permissions(path, fs::perms::owner_read);
  EXPECT_FALSE(write_file(path, "new"));
  EXPECT_EQ(contents(path), "old");
}

TEST(Os_Durable, ALinkIsFollowed) {
  const std::string path = ::testing::TempDir() + "plumb-durable-linked";
  const std::string link = path + "-link";
  fs::remove(link);
  ASSERT_TRUE(write_file(path, "old"));
  fs::create_symlink(path, link);
  ASSERT_TRUE(write_file(link, "new"));
  EXPECT_EQ(contents(path), "new");
  EXPECT_TRUE(fs::is_symlink(link));
}

TEST(Os_Durable, ADeviceIsWrittenToAndNotReplaced) {
  const std::string link = ::testing::TempDir() + "plumb-durable-device";
  fs::remove(link);
  fs::create_symlink("/dev/full", link);
  EXPECT_FALSE(write_file(link, "x").has_value());
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST(Os_Durable, AFolderIsNotReplaced) {
  const std::string folder = ::testing::TempDir() + "plumb-durable-folder";
  fs::create_directory(folder);
  EXPECT_FALSE(write_file(folder, "x").has_value());
  EXPECT_TRUE(fs::is_directory(folder));
}

TEST(Os_MappedFile, APipeIsRefusedAndNotWaitedFor) {
  const std::string path = ::testing::TempDir() + "plumb-pipe";
  fs::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const auto mapped = MappedFile::open(path);
  ASSERT_FALSE(mapped.has_value());
  EXPECT_EQ(mapped.error().code, PLUMB_CORRUPT);
}

}  // namespace
}  // namespace plumbline::os
