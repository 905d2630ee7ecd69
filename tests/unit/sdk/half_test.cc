// Conversions of half precision. The oracle is numpy, through golden/numerics/f16.json and
// golden/cases/numerics.jsonl.
#include "plumb/sdk/half.h"

#include <cmath>
#include <limits>

#include "core/hash/sha256.h"
#include "tests/support/golden_cases.h"

namespace plumbline::test {

namespace {

uint16_t from_hex(const nlohmann::json& text) {
  return static_cast<uint16_t>(std::stoul(text.get<std::string>(), nullptr, 16));
}

nlohmann::json case_of(const std::string& id) {
  for (const auto& line : read_jsonl(golden_path("cases/numerics.jsonl"))) {
    if (line["id"] == id) return line;
  }
  ADD_FAILURE() << "no case " << id;
  return {};
}

// Constant expressions, so that tables can be built from them.
static_assert(f16_to_f32(0x3c00) == 1.0f);
static_assert(f32_to_f16(-2.0f) == 0xc000);
static_assert(bf16_to_f32(0x3f80) == 1.0f);
static_assert(f32_to_bf16(1.00390625f) == 0x3f80);  // a tie goes to even
static_assert(f32_to_bf16(1.01171875f) == 0x3f82);

}  // namespace

TEST(Half, EveryFiniteF16HasItsValue) {
  std::vector<float> values;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    if ((bits & 0x7c00) != 0x7c00) values.push_back(f16_to_f32(static_cast<uint16_t>(bits)));
  }
  const nlohmann::json expected = case_of("N05.1")["expected"];
  ASSERT_EQ(values.size(), expected["count"].get<size_t>());
  EXPECT_EQ(
      sha256_of({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)}),
      expected["sha256_le_f32"].get<std::string>());
}

TEST(Half, EveryF16SurvivesTheWayThereAndBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = f16_to_f32(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(f16_to_f32(f32_to_f16(value)))) << bits;
    } else {
      EXPECT_EQ(f32_to_f16(value), half) << bits;
    }
  }
}

TEST(Half, NamedValues) {
  const nlohmann::json to_f32 = case_of("N05.2");
  for (size_t i = 0; i < to_f32["expected"]["f32"].size(); ++i) {
    EXPECT_EQ(f16_to_f32(from_hex(to_f32["input"]["value"]["bits"][i])),
              to_f32["expected"]["f32"][i].get<float>());
  }
  const nlohmann::json to_f16 = case_of("N05.3");
  for (size_t i = 0; i < to_f16["expected"]["bits"].size(); ++i) {
    EXPECT_EQ(f32_to_f16(to_f16["input"]["value"]["f32"][i].get<float>()),
              from_hex(to_f16["expected"]["bits"][i]));
  }
}

TEST(Half, RoundsToTheNearestAndTiesToEven) {
  // Every midpoint between neighbours, and the f32 on either side of it.
  for (uint16_t half = 0; half < 0x7bff; ++half) {
    const float low = f16_to_f32(half), high = f16_to_f32(half + 1);
    const float middle = (low + high) / 2;  // exact in f32
    EXPECT_EQ(f32_to_f16(middle), half % 2 == 0 ? half : half + 1) << half;
    EXPECT_EQ(f32_to_f16(std::nextafter(middle, 0.0f)), half) << half;
    EXPECT_EQ(f32_to_f16(-std::nextafter(middle, 1e9f)), (half + 1) | 0x8000) << half;
  }
}

TEST(Half, InfinityAndNaN) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(f16_to_f32(0x7c00), kInfinity);
  EXPECT_EQ(f32_to_f16(-kInfinity), 0xfc00);
  EXPECT_EQ(f32_to_bf16(kInfinity), 0x7f80);
  // A NaN whose payload lies in the bits that are cut off must not become infinity.
  const float nan = std::bit_cast<float>(0x7f800001u);
  EXPECT_TRUE(std::isnan(f16_to_f32(f32_to_f16(nan))));
  EXPECT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(nan))));
}

}  // namespace plumbline::test
