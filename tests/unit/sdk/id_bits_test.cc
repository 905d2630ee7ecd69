// Sets of ids. Oracle: std::set.
#include "plumb/sdk/id_bits.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace plumbline {
namespace {

TEST(IdBits, AreTheIdsThatWereAdded) {
  constexpr int32_t kVocab = 130;
  std::vector<uint64_t> bits(id_words(kVocab), 0);
  ASSERT_EQ(bits.size(), 3u);
  const std::set<int32_t> added = {0, 31, 32, 63, 64, 129};
  for (const int32_t id : added) add_id(bits, id);
  for (int32_t id = 0; id < kVocab; ++id) {
    EXPECT_EQ(has_id(bits, id), added.contains(id)) << id;
    EXPECT_EQ(has_id(bits.data(), id), added.contains(id)) << id;
  }
}

TEST(IdBits, HaveNothingOutsideOfThem) {
  std::vector<uint64_t> bits(2, 0);
  for (const int32_t id : {-1, 128, INT32_MIN, INT32_MAX}) {
    add_id(bits, id);
    EXPECT_FALSE(has_id(bits, id)) << id;
  }
  EXPECT_EQ(bits, std::vector<uint64_t>(2, 0));
  EXPECT_FALSE(has_id(std::span<const uint64_t>(), 0));
  EXPECT_EQ(id_words(0), 0u);
  EXPECT_EQ(id_words(64), 1u);
  EXPECT_EQ(id_words(UINT64_MAX), uint64_t{1} << 58);
}

}  // namespace
}  // namespace plumbline
