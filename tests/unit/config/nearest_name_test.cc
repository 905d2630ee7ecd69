// "Did you mean". Oracle: edits counted by hand.
#include "plumb/sdk/nearest_name.h"

#include <gtest/gtest.h>

#include <array>

namespace plumbline {
namespace {

constexpr std::array<std::string_view, 4> kNames{"backend", "threads", "kv", "options"};

TEST(Base_NearestName, FindsSlipsOfTheFinger) {
  EXPECT_EQ(nearest_name("bakend", kNames), "backend");  // one missing
  EXPECT_EQ(nearest_name("backendd", kNames), "backend");  // one too many
  EXPECT_EQ(nearest_name("backemd", kNames), "backend");  // another letter
  EXPECT_EQ(nearest_name("bakcend", kNames), "backend");  // two swapped: one edit
  EXPECT_EQ(nearest_name("k", kNames), "kv");
}

TEST(Base_NearestName, SuggestsNothingThatIsFar) {
  EXPECT_EQ(nearest_name("colour", kNames), "");
  EXPECT_EQ(nearest_name("", kNames), "");
  EXPECT_EQ(nearest_name(std::string(100000, 'b'), kNames), "");
  EXPECT_EQ(nearest_name("x", {}), "");
}

TEST(Base_NearestName, IsPutAsAQuestion) {
  EXPECT_EQ(did_you_mean("bakend", kNames), "; did you mean \"backend\"?");
  EXPECT_EQ(did_you_mean("colour", kNames), "");
}

}  // namespace
}  // namespace plumbline
