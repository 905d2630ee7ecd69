// Sizes and values of the weight formats. The oracle of the values is gguf-py, through
// golden/dequant.
#include "plumb/sdk/blocks.h"

#include "tests/support/npy.h"

namespace plumbline::test {

TEST(Blocks, ValuesHaveTheBitsOfGgufPy) {
  int n_formats = 0;
  for (const FormatInfo& format : kFormats) {
    if (format.format == PLUMB_I32) continue;
    SCOPED_TRACE(format.name);
    const std::string path = golden_path("dequant/" + std::string(format.name));
    const std::vector<uint8_t> blocks = read_file(path + ".bin");
    const std::vector<float> expected = npy_values<float>(path + ".npy");
    const uint64_t n_blocks = blocks.size() / format.block_bytes;
    ASSERT_GT(n_blocks, 0u);
    std::vector<float> values(n_blocks * format.block_values);
    ASSERT_EQ(values.size(), expected.size());
    ASSERT_TRUE(dequantise_blocks(format.format, blocks.data(), n_blocks, values.data()));
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(std::bit_cast<uint32_t>(values[i]), std::bit_cast<uint32_t>(expected[i]))
          << "value " << i;
    }
    ++n_formats;
  }
  EXPECT_EQ(n_formats, 13);
}

TEST(Blocks, FormatsWithoutWeightsAreRefused) {
  float value = 0;
  const uint8_t block[256] = {};
  for (const plumb_format format : {PLUMB_I32, PLUMB_ACT_Q8, 9, -1}) {
    EXPECT_FALSE(dequantise_block(format, block, &value)) << format;
  }
  EXPECT_EQ(find_format(PLUMB_ACT_Q8), nullptr);
  EXPECT_EQ(format_name(PLUMB_ACT_Q8), "ACT_Q8");
  EXPECT_EQ(format_name(PLUMB_Q6_K), "Q6_K");
}

TEST(Blocks, SizesOfTensors) {
  const auto bytes = [](plumb_format format, std::vector<uint64_t> dims) {
    return tensor_bytes(format, dims);
  };
  EXPECT_EQ(bytes(PLUMB_F32, {3, 5}), 60u);
  EXPECT_EQ(bytes(PLUMB_Q4_1, {2, 64}), 80u);
  EXPECT_EQ(bytes(PLUMB_Q6_K, {1, 1, 512}), 420u);
  EXPECT_EQ(bytes(PLUMB_F16, {0}), 0u);
  EXPECT_EQ(bytes(PLUMB_Q4_1, {2, 48}), std::nullopt) << "half a block";
  EXPECT_EQ(bytes(PLUMB_Q4_K, {32}), std::nullopt) << "less than a block";
  EXPECT_EQ(bytes(9, {32}), std::nullopt) << "unknown format";
  EXPECT_EQ(bytes(PLUMB_F32, {}), std::nullopt) << "no shape";
  EXPECT_EQ(bytes(PLUMB_F32, {UINT64_MAX / 4 + 1}), std::nullopt) << "does not fit";
  EXPECT_EQ(bytes(PLUMB_F32, {uint64_t{1} << 32, uint64_t{1} << 32}), std::nullopt)
      << "does not fit";
  EXPECT_EQ(bytes(PLUMB_Q8_0, {UINT64_MAX / 2, UINT64_MAX / 2, 32}), std::nullopt)
      << "does not fit";
}

}  // namespace plumbline::test
