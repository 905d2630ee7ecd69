// random_tensors.h: seeded inputs for kernels, ordinary and extreme.
#pragma once

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "kernels_harness.h"
#include "plumb/sdk/blocks.h"

namespace plumbline::test {

using Random = std::mt19937;

/// Values of both signs and of magnitudes 2^-6 .. 2^2, never zero.
inline std::vector<float> random_values(Random& random, uint64_t n) {
  std::uniform_real_distribution<float> mantissa(1.0f, 2.0f);
  std::uniform_int_distribution<int> exponent(-6, 1);
  std::vector<float> values(n);
  for (float& x : values)
    x = std::ldexp(random() % 2 == 0 ? mantissa(random) : -mantissa(random), exponent(random));
  return values;
}

/// An f16 scale: one in 16 is zero, one in 16 subnormal, one in 16 huge where asked for; the rest
/// 2^-10 .. 2^-3.
inline uint16_t random_scale(Random& random, bool with_huge) {
  const uint16_t sign = static_cast<uint16_t>(random() % 2 << 15);
  const uint32_t kind = random() % 16;
  if (kind == 0) return sign;
  if (kind == 1) return static_cast<uint16_t>(sign | (1 + random() % 0x3ff));
  if (kind == 2 && with_huge) return sign | 0x7bff;
  return static_cast<uint16_t>(sign | (5 + random() % 7) << 10 | random() % 0x400);
}

/// A tensor of any weight format: every code, every packed scale and every f16 scale drawn by
/// itself, so that no two blocks agree; one block in 16 has the codes 0xff, one 0x80, one 0x00.
inline HostTensor random_tensor(Random& random, plumb_format format, std::vector<uint64_t> dims,
                                bool with_huge_scales = false) {
  HostTensor tensor{format, dims, {}};
  tensor.data.resize(tensor_bytes(format, dims).value());
  visit_block_type(format, [&]<typename Block>(std::type_identity<Block>) {
    for (uint64_t at = 0; at < tensor.data.size(); at += sizeof(Block)) {
      Block block{};
      if constexpr (std::is_same_v<Block, block_f32>) {
        block.x = random_values(random, 1)[0];
      } else if constexpr (std::is_same_v<Block, block_f16>) {
        block.x = f32_to_f16(random_values(random, 1)[0]);
      } else if constexpr (std::is_same_v<Block, block_bf16>) {
        block.x = f32_to_bf16(random_values(random, 1)[0]);
      } else {
        uint8_t bytes[sizeof(Block)];
        const uint32_t kind = random() % 16;
        for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
        if (kind < 3) std::memset(bytes, kind == 0 ? 0xff : kind == 1 ? 0x80 : 0x00, sizeof bytes);
        std::memcpy(&block, bytes, sizeof block);
        block.d = random_scale(random, with_huge_scales);
        if constexpr (requires { block.m; }) block.m = random_scale(random, with_huge_scales);
        if constexpr (requires { block.dmin; }) block.dmin = random_scale(random, with_huge_scales);
      }
      std::memcpy(tensor.data.data() + at, &block, sizeof block);
    }
  });
  return tensor;
}

/// The values of a tensor.
inline std::vector<float> dequantised(const HostTensor& tensor) {
  const FormatInfo* info = find_format(tensor.format);
  const uint64_t n_blocks = tensor.data.size() / info->block_bytes;
  std::vector<float> values(n_blocks * info->block_values);
  dequantise_blocks(tensor.format, tensor.data.data(), n_blocks, values.data());
  return values;
}

}  // namespace plumbline::test
