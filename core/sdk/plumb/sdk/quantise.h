// quantise.h: values into the blocks of a tensor format: the other way of blocks.h.
//
// Bit for bit what the formats' own makers write: gguf-py's quants.py for F16, Q4_0, Q4_1, Q5_0 and
// Q8_0, ggml's quantize_row_q6_K_ref for Q6_K. As in blocks.h, each operation is rounded to f32 by
// itself (-ffp-contract=off). Values must be finite; what is larger than largest_value can end in a
// scale that is not.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "plumb/formats.h"
#include "plumb/sdk/blocks.h"
#include "plumb/sdk/half.h"

namespace plumbline {

namespace detail {

/// What values are multiplied with in place of a division by the scale.
inline float inverse_of(float scale) {
  return scale == 0 ? 0 : 1 / scale;
}

/// codes[i] = (x[i] - origin) * inverse + offset, cut to whole numbers in 0..max. Codes of a block
/// whose scale is too small to have an inverse are 0.
inline void make_codes(const float* x, float origin, float inverse, float offset, float max,
                       uint8_t (&codes)[32]) {
  std::memset(codes, 0, sizeof codes);
  if (!std::isfinite(inverse)) return;
  for (int i = 0; i < 32; ++i) {
    const float code = (x[i] - origin) * inverse + offset;
    // In this order, since a code may be no number where the scale is infinite.
    codes[i] = static_cast<uint8_t>(static_cast<int32_t>(code > 0 ? (code < max ? code : max) : 0));
  }
}

/// The value farthest from 0, the first of equals.
inline float extreme_of(const float* x, int n) {
  float extreme = x[0];
  for (int i = 1; i < n; ++i) {
    if (std::abs(x[i]) > std::abs(extreme)) extreme = x[i];
  }
  return extreme;
}

inline void pack_nibbles(const uint8_t (&codes)[32], uint8_t (&qs)[16]) {
  for (int i = 0; i < 16; ++i) qs[i] = static_cast<uint8_t>((codes[i] & 15) | (codes[16 + i] << 4));
}

/// To the nearest integer, ties to even, for |x| <= 2^22 - 1; for others some integer.
inline int32_t nearest_int(float x) {
  const auto bits = std::bit_cast<int32_t>(x + 0x1.8p23f);
  return (bits & 0x007fffff) - 0x00400000;
}

/// Codes of 16 values for x ~ scale * (code - 32), and the scale. 19 scales near the one that
/// carries the extreme to -32 are tried at once; each one's sums are in the order of the values.
inline float fit_q6(const float* x, uint8_t* codes) {
  constexpr int kTried = 19;
  constexpr float kAllZero = 1e-15f;
  const float extreme = extreme_of(x, 16);
  if (std::abs(extreme) < kAllZero) {
    std::memset(codes, 0, 16);
    return 0;
  }
  float inverse[kTried];
  for (int t = 0; t < kTried; ++t) {
    const int step = t == 0 ? 0 : t <= 9 ? t - 10 : t - 9;  // 0, then -9..-1, 1..9
    inverse[t] = -(32 + 0.1f * static_cast<float>(step)) / extreme;
  }
  const auto code_of = [](float scaled) { return std::clamp(nearest_int(scaled), -32, 31); };
  // Least squares with weights x * x: scale = sum(w x code) / sum(w code code).
  float sum_x[kTried] = {}, sum_code[kTried] = {};
  for (int i = 0; i < 16; ++i) {
    const float weight = x[i] * x[i];
    const float weighted = weight * x[i];
    for (int t = 0; t < kTried; ++t) {
      const auto code = static_cast<float>(code_of(inverse[t] * x[i]));
      sum_x[t] += weighted * code;
      sum_code[t] += weight * code * code;
    }
  }
  int best = 0;
  float scale = sum_code[0] != 0 ? sum_x[0] / sum_code[0] : 0;
  float gain = scale * sum_x[0];
  for (int t = 1; t < kTried; ++t) {
    if (sum_code[t] > 0 && sum_x[t] * sum_x[t] > gain * sum_code[t]) {
      best = t;
      scale = sum_x[t] / sum_code[t];
      gain = scale * sum_x[t];
    }
  }
  for (int i = 0; i < 16; ++i) codes[i] = static_cast<uint8_t>(code_of(inverse[best] * x[i]) + 32);
  return scale;
}

}  // namespace detail

inline void quantise(const float* x, block_f32& out) {
  out.x = *x;
}
inline void quantise(const float* x, block_f16& out) {
  out.x = f32_to_f16(*x);
}

inline void quantise(const float* x, plumb_block_q4_0& out) {
  const float d = detail::extreme_of(x, 32) / -8;
  uint8_t codes[32];
  detail::make_codes(x, 0, detail::inverse_of(d), 8.5f, 15, codes);
  out.d = f32_to_f16(d);
  detail::pack_nibbles(codes, out.qs);
}

/// Of zeros with both signs the first counts as the smallest, as in ggml; gguf-py's choice depends
/// on the processor.
inline void quantise(const float* x, plumb_block_q4_1& out) {
  float min = x[0], max = x[0];
  for (int i = 1; i < 32; ++i) {
    min = x[i] < min ? x[i] : min;
    max = x[i] > max ? x[i] : max;
  }
  const float d = (max - min) / 15;
  uint8_t codes[32];
  detail::make_codes(x, min, detail::inverse_of(d), 0.5f, 15, codes);
  out.d = f32_to_f16(d);
  out.m = f32_to_f16(min);
  detail::pack_nibbles(codes, out.qs);
}

inline void quantise(const float* x, plumb_block_q5_0& out) {
  const float d = detail::extreme_of(x, 32) / -16;
  uint8_t codes[32];
  detail::make_codes(x, 0, detail::inverse_of(d), 16.5f, 31, codes);
  out.d = f32_to_f16(d);
  detail::pack_nibbles(codes, out.qs);
  std::memset(out.qh, 0, sizeof out.qh);
  for (int i = 0; i < 32; ++i) out.qh[i / 8] |= static_cast<uint8_t>((codes[i] >> 4) << (i % 8));
}

inline void quantise(const float* x, plumb_block_q8_0& out) {
  const float d = std::abs(detail::extreme_of(x, 32)) / 127;
  const float inverse = detail::inverse_of(d);
  out.d = f32_to_f16(d);
  std::memset(out.qs, 0, sizeof out.qs);
  if (!std::isfinite(d) || !std::isfinite(inverse)) return;
  for (int i = 0; i < 32; ++i) {  // to the nearest, ties away from 0
    const float code = x[i] * inverse;
    const auto whole = static_cast<int32_t>(code);
    const float rest = code - static_cast<float>(whole);
    out.qs[i] = static_cast<int8_t>(whole + (rest >= 0.5f) - (rest <= -0.5f));
  }
}

inline void quantise(const float* x, plumb_block_q6_k& out) {
  uint8_t codes[PLUMB_QK_K];
  float scales[16];
  for (int j = 0; j < 16; ++j) scales[j] = detail::fit_q6(x + 16 * j, codes + 16 * j);
  std::memset(&out, 0, sizeof out);
  float extreme = 0;
  for (const float scale : scales) {
    if (std::abs(scale) > std::abs(extreme)) extreme = scale;
  }
  if (std::abs(extreme) < 1e-15f) return;
  const float inverse = -128.f / extreme;
  out.d = f32_to_f16(1 / inverse);
  const float d = f16_to_f32(out.d);
  for (int j = 0; j < 16; ++j) {
    out.scales[j] = static_cast<int8_t>(std::min(127, detail::nearest_int(inverse * scales[j])));
    const float scale = d * static_cast<float>(out.scales[j]);
    if (scale == 0) continue;  // codes as they were fitted
    for (int i = 16 * j; i < 16 * j + 16; ++i) {
      const int32_t code = std::clamp(detail::nearest_int(x[i] / scale), -32, 31);
      codes[i] = static_cast<uint8_t>(code + 32);
    }
  }
  for (int i = 0; i < PLUMB_QK_K; ++i) {  // as dequantise reads them
    out.ql[64 * (i / 128) + i % 64] |= static_cast<uint8_t>((codes[i] & 15) << (4 * (i / 64 % 2)));
    out.qh[32 * (i / 128) + i % 32] |= static_cast<uint8_t>((codes[i] >> 4) << (2 * (i / 32 % 4)));
  }
}

/// True of the formats that there is a quantise for.
constexpr bool can_quantise(plumb_format format) {
  switch (format) {
    case PLUMB_F32:
    case PLUMB_F16:
    case PLUMB_Q4_0:
    case PLUMB_Q4_1:
    case PLUMB_Q5_0:
    case PLUMB_Q8_0:
    case PLUMB_Q6_K:
      return true;
    default:
      return false;
  }
}

/// Blocks of values up to this size, either sign, have finite scales. 0 if can_quantise is false.
constexpr float largest_value(plumb_format format) {
  constexpr float kLargestF16 = 65504;
  switch (format) {
    case PLUMB_F32:
      return std::numeric_limits<float>::max();
    case PLUMB_F16:
    case PLUMB_Q4_1:  // the minimum is an f16
      return kLargestF16;
    case PLUMB_Q4_0:
      return 8 * kLargestF16;
    case PLUMB_Q5_0:
      return 16 * kLargestF16;
    case PLUMB_Q8_0:
      return 127 * kLargestF16;
    case PLUMB_Q6_K:
      return 128 * 31 * kLargestF16;  // a fitted scale is at most 1/31 of the extreme
    default:
      return 0;
  }
}

/// out = the blocks of x[0 .. n_blocks * block_values); out may be unaligned. False, and nothing is
/// done, if can_quantise is false.
inline bool quantise_blocks(plumb_format format, const float* x, uint64_t n_blocks, void* out) {
  if (!can_quantise(format)) return false;
  const FormatInfo* info = find_format(format);
  auto* to = static_cast<uint8_t*>(out);
  return visit_block_type(format, [&]<typename Block>(std::type_identity<Block>) {
    if constexpr (requires(Block block) { quantise(x, block); }) {
      for (uint64_t b = 0; b < n_blocks; ++b) {
        Block block;
        quantise(x + b * info->block_values, block);
        std::memcpy(to + b * sizeof block, &block, sizeof block);
      }
    }
  });
}

}  // namespace plumbline
