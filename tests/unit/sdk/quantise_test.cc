// Values into blocks. The oracle of the bits is gguf-py, for Q6_K ggml's reference quantiser,
// through golden/quantise; what lies beyond a format is a law of IEEE arithmetic.
#include "plumb/sdk/quantise.h"

#include "tests/support/npy.h"

namespace plumbline::test {

constexpr plumb_format kGoldenFormats[] = {PLUMB_F16,  PLUMB_Q4_0, PLUMB_Q4_1,
                                           PLUMB_Q5_0, PLUMB_Q8_0, PLUMB_Q6_K};

TEST(Quantise, BlocksHaveTheBitsOfTheirMakers) {
  const std::vector<float> values = npy_values<float>(golden_path("quantise/values.npy"));
  for (const plumb_format format : kGoldenFormats) {
    const FormatInfo& info = *find_format(format);
    SCOPED_TRACE(info.name);
    const std::vector<uint8_t> expected =
        read_file(golden_path("quantise/" + std::string(info.name) + ".bin"));
    const uint64_t n_blocks = values.size() / info.block_values;
    ASSERT_GT(n_blocks, 100u);
    ASSERT_EQ(expected.size(), n_blocks * info.block_bytes);
    std::vector<uint8_t> blocks(expected.size() + 1);
    uint8_t* unaligned = blocks.data() + 1;
    ASSERT_TRUE(quantise_blocks(format, values.data(), n_blocks, unaligned));
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(unaligned[i], expected[i])
          << "byte " << i % info.block_bytes << " of block " << i / info.block_bytes;
    }
  }
}

TEST(Quantise, F32StaysAsItIs) {
  const float values[] = {0.0f, -0.0f, 1e-45f, 3.4028235e38f};
  float out[4];
  ASSERT_TRUE(quantise_blocks(PLUMB_F32, values, 4, out));
  EXPECT_EQ(std::memcmp(values, out, sizeof out), 0);
}

TEST(Quantise, WhatIsWithinTheLargestValueComesBackFinite) {
  for (const FormatInfo& info : kFormats) {
    if (!can_quantise(info.format)) continue;
    SCOPED_TRACE(info.name);
    const float largest = largest_value(info.format);
    // Both ends in one block, alternating, and alone among small ones.
    for (const int period : {1, 2, 7, 32}) {
      std::vector<float> values(PLUMB_QK_K), back(PLUMB_QK_K);
      for (int i = 0; i < PLUMB_QK_K; ++i) {
        values[static_cast<size_t>(i)] =
            i % period == 0 ? (i % 3 == 0 ? -largest : largest) : static_cast<float>(i);
      }
      std::vector<uint8_t> blocks(PLUMB_QK_K * sizeof(float));
      const uint64_t n_blocks = PLUMB_QK_K / info.block_values;
      ASSERT_TRUE(quantise_blocks(info.format, values.data(), n_blocks, blocks.data()));
      ASSERT_TRUE(dequantise_blocks(info.format, blocks.data(), n_blocks, back.data()));
      for (const float value : back) ASSERT_TRUE(std::isfinite(value)) << "period " << period;
    }
  }
}

/// The caller's mistake, but no undefined behaviour: the sanitized build runs this too.
TEST(Quantise, ValuesThatAreNoNumbersDoNoHarm) {
  std::vector<float> values(PLUMB_QK_K);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = i % 3 == 0 ? std::numeric_limits<float>::quiet_NaN()
                           : std::numeric_limits<float>::infinity() * (i % 2 == 0 ? 1.0f : -1.0f);
  }
  for (const plumb_format format : kGoldenFormats) {
    const FormatInfo& info = *find_format(format);
    std::vector<uint8_t> blocks(PLUMB_QK_K * sizeof(float));
    EXPECT_TRUE(
        quantise_blocks(format, values.data(), PLUMB_QK_K / info.block_values, blocks.data()));
  }
}

TEST(Quantise, OtherFormatsAreRefused) {
  const float values[PLUMB_QK_K] = {};
  uint8_t out[1024];
  for (const plumb_format format : {PLUMB_BF16, PLUMB_Q5_1, PLUMB_Q2_K, PLUMB_Q4_K, PLUMB_I32,
                                    PLUMB_ACT_Q8, plumb_format{-1}}) {
    EXPECT_FALSE(can_quantise(format)) << format;
    EXPECT_EQ(largest_value(format), 0) << format;
    EXPECT_FALSE(quantise_blocks(format, values, 1, out)) << format;
  }
}

}  // namespace plumbline::test
