// Oracle: the examples of FIPS 180-2, appendix B, and of its test of a million letters a.
#include "core/hash/sha256.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace plumbline {
namespace {

TEST(Base_Sha256, StandardExamples) {
  EXPECT_EQ(sha256_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  Sha256 million;
  for (int i = 0; i < 1000; ++i) million.update(std::string(1000, 'a'));
  EXPECT_EQ(million.finish(), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Base_Sha256, FileIsHashedWholeAndCanBeStopped) {
  const std::string path = ::testing::TempDir() + "plumb-sha256-file";
  const std::string bytes(3 << 20, 'x');
  std::ofstream(path, std::ios::binary) << bytes;
  uint64_t done = 0;
  const auto hash = sha256_of_file(path, [&](uint64_t n) {
    done = n;
    return true;
  });
  ASSERT_TRUE(hash.has_value());
  EXPECT_EQ(*hash, sha256_of(bytes));
  EXPECT_EQ(done, bytes.size());
  const auto stopped = sha256_of_file(path, [](uint64_t) { return false; });
  ASSERT_FALSE(stopped.has_value());
  EXPECT_EQ(stopped.error().code, PLUMB_CANCELLED);
  std::filesystem::remove(path);
  EXPECT_EQ(sha256_of_file(path).error().code, PLUMB_NOT_FOUND);
}

// Oracle: the rule of core/doc/golden_bundles.md, written out.
TEST(Base_Sha256, AFolderIsItsFilesByName) {
  const std::filesystem::path folder = ::testing::TempDir() + "plumb-sha256-folder";
  std::filesystem::create_directories(folder / "inner");
  std::ofstream(folder / "b.safetensors") << "bee";
  std::ofstream(folder / "a.json") << "{}";
  std::ofstream(folder / "inner" / "c") << "not read";
  const std::string lines =
      "a.json\n" + sha256_of("{}") + "\nb.safetensors\n" + sha256_of("bee") + "\n";
  EXPECT_EQ(*sha256_of_path(folder.string()), sha256_of(lines));
  EXPECT_EQ(*sha256_of_path((folder / "a.json").string()), sha256_of("{}"));
  EXPECT_EQ(sha256_of_path(folder.string(), [](uint64_t) { return false; }).error().code,
            PLUMB_CANCELLED);
  std::filesystem::remove_all(folder);
  EXPECT_EQ(sha256_of_path(folder.string()).error().code, PLUMB_NOT_FOUND);
}

}  // namespace
}  // namespace plumbline
