// Locks and files that are there whole or not at all. Oracle: core/base/os/file_lock.h and
// durable.h.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/os/durable.h"
#include "core/base/os/file_lock.h"

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
  ASSERT_TRUE(write_file(path, "old"));
  ASSERT_TRUE(write_file(path, "new and longer"));
  EXPECT_EQ(contents(path), "new and longer");
  EXPECT_FALSE(fs::exists(path + ".new"));
}

TEST(Os_Durable, FailureLeavesTheOldOne) {
  const std::string path = ::testing::TempDir() + "plumb-durable-kept";
  ASSERT_TRUE(write_file(path, "old"));
  const auto published = publish_file(path + ".missing", path);
  ASSERT_FALSE(published.has_value());
  EXPECT_EQ(contents(path), "old");
  EXPECT_FALSE(write_file("/proc/plumb-cannot-write-here", "x").has_value());
}

}  // namespace
}  // namespace plumbline::os
