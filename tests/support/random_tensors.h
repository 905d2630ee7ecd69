// random_tensors.h: seeded inputs for kernels, ordinary and extreme.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "kernels_harness.h"
#include "plumb/sdk/blocks.h"

namespace plumbline::test {

/// Draws are made in statements of their own: the order of two in one expression would be the
/// compiler's, and builds for two processors would test other numbers.
using Random = std::mt19937;

/// What inputs are made of. kOrdinary: numbers that a bound can be derived for. kExtreme: the ends
/// of every range, where only equal bits can be asked for. kExtremeFinite: those without NaN and
/// infinities.
enum class Inputs { kOrdinary, kExtreme, kExtremeFinite };

inline Inputs without_nan(Inputs inputs) {
  return inputs == Inputs::kExtreme ? Inputs::kExtremeFinite : inputs;
}

/// Values of both signs and of magnitudes 2^-6 .. 2^2, never zero.
inline std::vector<float> random_values(Random& random, uint64_t n) {
  std::uniform_real_distribution<float> mantissa(1.0f, 2.0f);
  std::uniform_int_distribution<int> exponent(-6, 1);
  std::vector<float> values(n);
  for (float& x : values) {
    const bool is_positive = random() % 2 == 0;
    x = is_positive ? mantissa(random) : -mantissa(random);
    x = std::ldexp(x, exponent(random));
  }
  return values;
}

/// The same where inputs are ordinary. Else runs of 32, the block of quantised activations: all
/// codes 127 or -127, zeros of both signs, subnormals, what rounds to a tie, both sides of the
/// smallest scale, and, seldom, since little survives them, FLT_MAX, NaN and infinities.
inline std::vector<float> values_of(Inputs inputs, Random& random, uint64_t n) {
  std::vector<float> values = random_values(random, n);
  if (inputs == Inputs::kOrdinary) return values;
  constexpr uint64_t kRun = 32;
  for (uint64_t first = 0; first < n; first += kRun) {
    const uint32_t kind = random() % 8;
    const float unit = std::ldexp(1.0f, static_cast<int>(random() % 8) - 4);
    const bool with_largest = random() % 64 == 0;
    const bool with_none = inputs == Inputs::kExtreme && random() % 64 == 0;
    for (uint64_t i = first; i < std::min(n, first + kRun); ++i) {
      const float sign = random() % 2 == 0 ? 1.0f : -1.0f;
      float& x = values[i];
      switch (kind) {
        case 0:
          x = unit;
          break;
        case 1:
          x = -unit;
          break;
        case 2:
          x = sign * unit;
          break;
        case 3:
          x = sign * 0.0f;
          break;
        case 4:
          x = sign * static_cast<float>(random() % 0x800000) * 0x1p-149f;
          break;
        case 5:
          x = i == first ? 127.0f : sign * (static_cast<float>(random() % 100) + 0.5f);
          break;
        case 6:
          x = sign * (random() % 2 == 0 ? 0x1p-100f : 0x1.fffffep-101f);
          break;
        default:
          break;
      }
      if (with_largest && random() % 4 == 0) x = sign * FLT_MAX;
      if (with_none && random() % 8 == 0) {
        x = random() % 2 == 0 ? sign * std::numeric_limits<float>::infinity()
                              : std::numeric_limits<float>::quiet_NaN();
      }
    }
  }
  return values;
}

/// An f16 scale: one in 16 is zero, one in 16 subnormal, one in 16 the largest where asked for; the
/// rest 2^-10 .. 2^-3.
inline uint16_t random_scale(Random& random, bool with_largest) {
  const uint16_t sign = static_cast<uint16_t>(random() % 2 << 15);
  const uint32_t kind = random() % 16;
  if (kind == 0) return sign;
  if (kind == 1) return static_cast<uint16_t>(sign | (1 + random() % 0x3ff));
  if (kind == 2 && with_largest) return sign | 0x7bff;
  const uint32_t exponent = 5 + random() % 7;
  return static_cast<uint16_t>(sign | exponent << 10 | random() % 0x400);
}

inline bool all_differ(std::vector<int> values) {
  std::sort(values.begin(), values.end());
  return std::adjacent_find(values.begin(), values.end()) == values.end();
}

/// Packed scales (and minima) of a block, no two the same: one that is taken for another shows.
template <typename Block>
void draw_scales(Random& random, Block& block) {
  if constexpr (std::is_same_v<Block, plumb_block_q2_k>) {  // 16 of 16: permutations
    std::vector<uint8_t> scales(16);
    std::iota(scales.begin(), scales.end(), uint8_t{0});
    std::vector<uint8_t> minima = scales;
    std::shuffle(scales.begin(), scales.end(), random);
    std::shuffle(minima.begin(), minima.end(), random);
    for (int j = 0; j < 16; ++j) block.scales[j] = static_cast<uint8_t>(scales[j] | minima[j] << 4);
  } else {
    for (bool differ = false; !differ;) {
      for (auto& byte : block.scales) {
        byte = static_cast<std::remove_reference_t<decltype(byte)>>(random());
      }
      std::vector<int> scales, minima;
      if constexpr (std::is_same_v<Block, plumb_block_q3_k>) {
        for (int j = 0; j < 16; ++j) scales.push_back(detail::scale_q3_k(block.scales, j));
      } else if constexpr (std::is_same_v<Block, plumb_block_q6_k>) {
        scales.assign(std::begin(block.scales), std::end(block.scales));
      } else {
        for (int j = 0; j < 8; ++j) {
          const detail::ScaleMin both = detail::scale_min_k4(block.scales, j);
          scales.push_back(both.scale);
          minima.push_back(both.min);
        }
      }
      differ = all_differ(scales) && all_differ(minima);
    }
  }
}

/// A tensor of any weight format. Quantised blocks: every code, every packed scale and every f16
/// scale drawn by itself, so that no two blocks agree; one block in 16 has codes of 0xff, one 0x80,
/// one 0x00. Extreme ones: all bytes of the codes the same, and of the packed scales, so that each
/// largest product (of Q6_K: code -32, scale -128) is met; with_largest, of them always: some f16
/// scales are 65504.
inline HostTensor random_tensor(Random& random, plumb_format format, std::vector<uint64_t> dims,
                                Inputs inputs = Inputs::kOrdinary, bool with_largest = false) {
  constexpr uint8_t kEnds[] = {0x00, 0x7f, 0x80, 0xff};
  const bool is_extreme = inputs != Inputs::kOrdinary;
  with_largest = with_largest || is_extreme;
  HostTensor tensor{format, dims, {}};
  tensor.data.resize(tensor_bytes(format, dims).value());
  visit_block_type(format, [&]<typename Block>(std::type_identity<Block>) {
    std::vector<float> plain;
    if constexpr (requires(Block block) { block.x; })
      plain = values_of(inputs, random, tensor.data.size() / sizeof(Block));
    for (uint64_t at = 0; at < tensor.data.size(); at += sizeof(Block)) {
      Block block{};
      if constexpr (std::is_same_v<Block, block_f32>) {
        block.x = plain[at / sizeof block];
      } else if constexpr (std::is_same_v<Block, block_f16>) {
        block.x = f32_to_f16(plain[at / sizeof block]);
      } else if constexpr (std::is_same_v<Block, block_bf16>) {
        block.x = f32_to_bf16(plain[at / sizeof block]);
      } else {
        uint8_t bytes[sizeof(Block)];
        const uint32_t kind = random() % 16;
        for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
        if (kind < 3) std::memset(bytes, kind == 0 ? 0xff : kind == 1 ? 0x80 : 0x00, sizeof bytes);
        if (is_extreme) std::memset(bytes, kEnds[random() % 4], sizeof bytes);
        std::memcpy(&block, bytes, sizeof block);
        if constexpr (requires { block.scales; }) {
          if (is_extreme) {
            std::memset(block.scales, kEnds[random() % 4], sizeof block.scales);
          } else if (kind >= 3) {
            draw_scales(random, block);
          }
        }
        block.d = random_scale(random, with_largest);
        if constexpr (requires { block.m; }) block.m = random_scale(random, with_largest);
        if constexpr (requires { block.dmin; }) block.dmin = random_scale(random, with_largest);
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
