#include "tests/support/digest_book.h"

#include <gtest/gtest.h>

#include <bit>
#include <cinttypes>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

namespace plumbline::test {

// Source of the hash: FNV-1a, 64 bits (Fowler, Noll, Vo), over the bytes of each word from the
// lowest on.
void DigestBook::add(const std::string& key, std::span<const float> values) {
  Digest& digest = digests_[key];
  for (const float value : values) {
    uint32_t word = std::isnan(value) ? 0x7fc00000u : std::bit_cast<uint32_t>(value);
    for (int byte = 0; byte < 4; ++byte, word >>= 8) {
      digest.hash = (digest.hash ^ (word & 0xff)) * 0x100000001b3;
    }
  }
  digest.n_values += values.size();
}

void DigestBook::settle(const std::string& name) const {
  const auto read = [](const std::string& path) {
    std::map<std::string, Digest> digests;
    std::ifstream file(path);
    EXPECT_TRUE(file) << path << " cannot be read";
    Digest digest;
    std::string key;
    while (file >> std::hex >> digest.hash >> std::dec >> digest.n_values &&
           std::getline(file >> std::ws, key)) {
      digests[key] = digest;
    }
    return digests;
  };

  std::filesystem::create_directories(PLUMB_BUILD_DIGEST_DIR);
  const std::string path = PLUMB_BUILD_DIGEST_DIR "/" + name + ".txt";
  std::ofstream out(path);
  for (const auto& [key, digest] : digests_) {
    char hash[17];
    std::snprintf(hash, sizeof hash, "%016" PRIx64, digest.hash);
    out << hash << " " << digest.n_values << " " << key << "\n";
  }
  out.close();
  EXPECT_EQ(read(path), digests_) << path;

  const char* other = std::getenv("PLUMB_DIGESTS");
  if (other == nullptr) {
    std::cout << digests_.size() << " digests written to " << path
              << "; compared with no other build: PLUMB_DIGESTS names none\n";
    return;
  }
  const std::map<std::string, Digest> theirs = read(other + ("/" + name + ".txt"));
  size_t n_equal = 0;
  for (const auto& [key, digest] : digests_) {
    const auto their = theirs.find(key);
    if (their == theirs.end()) {
      ADD_FAILURE() << key << ": not in " << other << "/" << name << ".txt";
      continue;
    }
    n_equal += their->second == digest ? 1 : 0;
    EXPECT_EQ(digest.n_values, their->second.n_values) << key;
    EXPECT_EQ(digest.hash, their->second.hash)
        << key << ": the bits differ from those of the build in " << other;
  }
  std::cout << n_equal << " of " << digests_.size() << " digests equal those of " << other << "\n";
}

}  // namespace plumbline::test
