// blocks.h: the size of each tensor format, and its values by the format's own expression, one
// block at a time.
//
// Naive on purpose: this is what "the weights of a file" means, and what fast kernels are compared
// with. Each product and sum is rounded to f32 by itself, so compile with -ffp-contract=off where
// the processor has fused multiply-add. Source: gguf-py's quants.py (bit for bit its `dequantize`);
// the layouts are described in plumb/formats.h.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "plumb/formats.h"
#include "plumb/sdk/half.h"

namespace plumbline {

struct FormatInfo {
  plumb_format format;
  uint32_t block_values;  // values in a block; a row is a whole number of blocks
  uint32_t block_bytes;
  bool is_quantised;  // blocks of integer codes and scales
  std::string_view name;  // as in reports and messages
};

inline constexpr std::array<FormatInfo, 14> kFormats = {{
    {PLUMB_F32, 1, 4, false, "F32"},
    {PLUMB_F16, 1, 2, false, "F16"},
    {PLUMB_BF16, 1, 2, false, "BF16"},
    {PLUMB_Q4_0, 32, sizeof(plumb_block_q4_0), true, "Q4_0"},
    {PLUMB_Q4_1, 32, sizeof(plumb_block_q4_1), true, "Q4_1"},
    {PLUMB_Q5_0, 32, sizeof(plumb_block_q5_0), true, "Q5_0"},
    {PLUMB_Q5_1, 32, sizeof(plumb_block_q5_1), true, "Q5_1"},
    {PLUMB_Q8_0, 32, sizeof(plumb_block_q8_0), true, "Q8_0"},
    {PLUMB_Q2_K, 256, sizeof(plumb_block_q2_k), true, "Q2_K"},
    {PLUMB_Q3_K, 256, sizeof(plumb_block_q3_k), true, "Q3_K"},
    {PLUMB_Q4_K, 256, sizeof(plumb_block_q4_k), true, "Q4_K"},
    {PLUMB_Q5_K, 256, sizeof(plumb_block_q5_k), true, "Q5_K"},
    {PLUMB_Q6_K, 256, sizeof(plumb_block_q6_k), true, "Q6_K"},
    {PLUMB_I32, 1, 4, false, "I32"},
}};

/// The facts of a format, or null for one that is not a file's (unknown, PLUMB_ACT_Q8).
constexpr const FormatInfo* find_format(plumb_format format) {
  for (const FormatInfo& info : kFormats) {
    if (info.format == format) return &info;
  }
  return nullptr;
}

constexpr std::string_view format_name(plumb_format format) {
  const FormatInfo* info = find_format(format);
  if (info != nullptr) return info->name;
  return format == PLUMB_ACT_Q8 ? "ACT_Q8" : "unknown format";
}

/// a * b, or nothing where it does not fit.
constexpr std::optional<uint64_t> checked_product(uint64_t a, uint64_t b) {
  if (b != 0 && a > UINT64_MAX / b) return std::nullopt;
  return a * b;
}

/// Bytes of a row-major tensor. Nothing if the format is unknown, dims is empty, the last dimension
/// is not a whole number of blocks, or the size does not fit in 64 bits.
constexpr std::optional<uint64_t> tensor_bytes(plumb_format format,
                                               std::span<const uint64_t> dims) {
  const FormatInfo* info = find_format(format);
  if (info == nullptr || dims.empty() || dims.back() % info->block_values != 0) return std::nullopt;
  std::optional<uint64_t> bytes =
      checked_product(dims.back() / info->block_values, info->block_bytes);
  for (const uint64_t dim : dims.first(dims.size() - 1)) {
    if (bytes) bytes = checked_product(*bytes, dim);
  }
  return bytes;
}

/// A "block" of the formats that have none.
struct block_f32 {
  float x;
};
struct block_f16 {
  uint16_t x;
};
struct block_bf16 {
  uint16_t x;
};

inline void dequantise(const block_f32& block, float* out) {
  *out = block.x;
}
inline void dequantise(const block_f16& block, float* out) {
  *out = f16_to_f32(block.x);
}
inline void dequantise(const block_bf16& block, float* out) {
  *out = bf16_to_f32(block.x);
}

inline void dequantise(const plumb_block_q4_0& block, float* out) {
  const float d = f16_to_f32(block.d);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>((block.qs[i] & 15) - 8);
    out[16 + i] = d * static_cast<float>((block.qs[i] >> 4) - 8);
  }
}

inline void dequantise(const plumb_block_q4_1& block, float* out) {
  const float d = f16_to_f32(block.d), m = f16_to_f32(block.m);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>(block.qs[i] & 15) + m;
    out[16 + i] = d * static_cast<float>(block.qs[i] >> 4) + m;
  }
}

namespace detail {

/// The code of value i in 0..31 of a Q5_0 or Q5_1 block, 0..31.
template <typename Block>
int code_q5(const Block& block, int i) {
  const int low = i < 16 ? block.qs[i] & 15 : block.qs[i - 16] >> 4;
  return low | (((block.qh[i / 8] >> (i % 8)) & 1) << 4);
}

struct ScaleMin {
  int scale, min;
};

/// Sub-block j in 0..7 of the 12 bytes of 6-bit scales and minima of Q4_K and Q5_K.
inline ScaleMin scale_min_k4(const uint8_t (&packed)[12], int j) {
  if (j < 4) return {packed[j] & 63, packed[j + 4] & 63};
  return {(packed[j + 4] & 15) | ((packed[j - 4] >> 2) & 48),
          (packed[j + 4] >> 4) | ((packed[j] >> 2) & 48)};
}

/// Sub-block j in 0..15 of the 12 bytes of 6-bit scales of Q3_K, -32..31.
inline int scale_q3_k(const uint8_t (&packed)[12], int j) {
  const int low = j < 8 ? packed[j] & 15 : packed[j - 8] >> 4;
  return (low | (((packed[8 + j % 4] >> (2 * (j / 4))) & 3) << 4)) - 32;
}

}  // namespace detail

inline void dequantise(const plumb_block_q5_0& block, float* out) {
  const float d = f16_to_f32(block.d);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(detail::code_q5(block, i) - 16);
}

inline void dequantise(const plumb_block_q5_1& block, float* out) {
  const float d = f16_to_f32(block.d), m = f16_to_f32(block.m);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(detail::code_q5(block, i)) + m;
}

inline void dequantise(const plumb_block_q8_0& block, float* out) {
  const float d = f16_to_f32(block.d);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(block.qs[i]);
}

/// Two bits of value i: 32 bytes hold 4 x 32 values, here as in Q3_K and in Q6_K's qh.
inline void dequantise(const plumb_block_q2_k& block, float* out) {
  const float d = f16_to_f32(block.d), dmin = f16_to_f32(block.dmin);
  for (int j = 0; j < 16; ++j) {  // sub-blocks of 16
    const float scale = d * static_cast<float>(block.scales[j] & 15);
    const float min = dmin * static_cast<float>(block.scales[j] >> 4);
    for (int i = 16 * j; i < 16 * j + 16; ++i) {
      const int code = (block.qs[32 * (i / 128) + i % 32] >> (2 * (i / 32 % 4))) & 3;
      out[i] = scale * static_cast<float>(code) - min;
    }
  }
}

inline void dequantise(const plumb_block_q3_k& block, float* out) {
  const float d = f16_to_f32(block.d);
  for (int j = 0; j < 16; ++j) {
    const float scale = d * static_cast<float>(detail::scale_q3_k(block.scales, j));
    for (int i = 16 * j; i < 16 * j + 16; ++i) {
      const int low = (block.qs[32 * (i / 128) + i % 32] >> (2 * (i / 32 % 4))) & 3;
      const int high = (block.hmask[i % 32] >> (i / 32)) & 1;  // 0 means minus 4
      out[i] = scale * static_cast<float>(low - 4 * (1 - high));
    }
  }
}

inline void dequantise(const plumb_block_q4_k& block, float* out) {
  const float d = f16_to_f32(block.d), dmin = f16_to_f32(block.dmin);
  for (int j = 0; j < 8; ++j) {  // sub-blocks of 32; two share 32 bytes of nibbles
    const auto [sc, mn] = detail::scale_min_k4(block.scales, j);
    const float scale = d * static_cast<float>(sc), min = dmin * static_cast<float>(mn);
    for (int i = 0; i < 32; ++i) {
      const int code = (block.qs[32 * (j / 2) + i] >> (4 * (j % 2))) & 15;
      out[32 * j + i] = scale * static_cast<float>(code) - min;
    }
  }
}

inline void dequantise(const plumb_block_q5_k& block, float* out) {
  const float d = f16_to_f32(block.d), dmin = f16_to_f32(block.dmin);
  for (int j = 0; j < 8; ++j) {
    const auto [sc, mn] = detail::scale_min_k4(block.scales, j);
    const float scale = d * static_cast<float>(sc), min = dmin * static_cast<float>(mn);
    for (int i = 0; i < 32; ++i) {
      const int low = (block.qs[32 * (j / 2) + i] >> (4 * (j % 2))) & 15;
      const int high = (block.qh[i] >> j) & 1;
      out[32 * j + i] = scale * static_cast<float>(low | (high << 4)) - min;
    }
  }
}

inline void dequantise(const plumb_block_q6_k& block, float* out) {
  const float d = f16_to_f32(block.d);
  for (int j = 0; j < 16; ++j) {
    const float scale = d * static_cast<float>(block.scales[j]);
    for (int i = 16 * j; i < 16 * j + 16; ++i) {
      const int low = (block.ql[64 * (i / 128) + i % 64] >> (4 * (i / 64 % 2))) & 15;
      const int high = (block.qh[32 * (i / 128) + i % 32] >> (2 * (i / 32 % 4))) & 3;
      out[i] = scale * static_cast<float>((low | (high << 4)) - 32);
    }
  }
}

/// Calls visit(std::type_identity<B>{}) with the block struct B of a format. False if the format
/// holds no weights.
template <typename Visit>
constexpr bool visit_block_type(plumb_format format, Visit&& visit) {
  switch (format) {
    case PLUMB_F32:
      visit(std::type_identity<block_f32>{});
      return true;
    case PLUMB_F16:
      visit(std::type_identity<block_f16>{});
      return true;
    case PLUMB_BF16:
      visit(std::type_identity<block_bf16>{});
      return true;
    case PLUMB_Q4_0:
      visit(std::type_identity<plumb_block_q4_0>{});
      return true;
    case PLUMB_Q4_1:
      visit(std::type_identity<plumb_block_q4_1>{});
      return true;
    case PLUMB_Q5_0:
      visit(std::type_identity<plumb_block_q5_0>{});
      return true;
    case PLUMB_Q5_1:
      visit(std::type_identity<plumb_block_q5_1>{});
      return true;
    case PLUMB_Q8_0:
      visit(std::type_identity<plumb_block_q8_0>{});
      return true;
    case PLUMB_Q2_K:
      visit(std::type_identity<plumb_block_q2_k>{});
      return true;
    case PLUMB_Q3_K:
      visit(std::type_identity<plumb_block_q3_k>{});
      return true;
    case PLUMB_Q4_K:
      visit(std::type_identity<plumb_block_q4_k>{});
      return true;
    case PLUMB_Q5_K:
      visit(std::type_identity<plumb_block_q5_k>{});
      return true;
    case PLUMB_Q6_K:
      visit(std::type_identity<plumb_block_q6_k>{});
      return true;
    default:
      return false;
  }
}

/// The format whose blocks are of this type.
template <typename Block>
constexpr plumb_format format_of() {
  plumb_format found = 0;
  for (const FormatInfo& info : kFormats) {
    visit_block_type(info.format, [&]<typename Other>(std::type_identity<Other>) {
      if (std::is_same_v<Block, Other>) found = info.format;
    });
  }
  return found;
}

/// out[0 .. n_blocks * block_values) = the values of consecutive blocks (blocks may be unaligned).
/// False if the format holds no weights.
inline bool dequantise_blocks(plumb_format format, const void* blocks, uint64_t n_blocks,
                              float* out) {
  const uint8_t* from = static_cast<const uint8_t*>(blocks);
  const FormatInfo* info = find_format(format);
  return visit_block_type(format, [&]<typename Block>(std::type_identity<Block>) {
    for (uint64_t b = 0; b < n_blocks; ++b) {
      Block block;
      std::memcpy(&block, from + b * sizeof block, sizeof block);
      dequantise(block, out + b * info->block_values);
    }
  });
}

inline bool dequantise_block(plumb_format format, const void* block, float* out) {
  return dequantise_blocks(format, block, 1, out);
}

}  // namespace plumbline
