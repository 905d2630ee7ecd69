// layout.h: the private layouts of prepared weights, quantised activations and KV rows. Shared by
// the code that writes them (weights.cc, kv.cc) and the kernels. Constants only: nothing here may
// become a linker symbol, because kernels are compiled for other processors than the rest.
//
// A matrix is cut into panels of 16 rows, a panel along its rows into blocks of 32 values. A
// block's codes lie in quads: 64 bytes, byte 4 * row + j. A plane of b bits a value keeps 8 / b
// groups of four values in one quads: group g of the block is at bits b * (g mod (8 / b)) of quads
// g / (8 / b), and holds the values 4 * g + j. Shapes: [N/16][K/32] blocks, rows and blocks
// contiguous; missing rows of the last panel are zero.
#pragma once

#include <cstdint>

#include "plumb/formats.h"

namespace plumbline::cpu {

inline constexpr uint64_t kLanes = 16;  // rows of a panel, key positions of a K block, partial sums
inline constexpr uint64_t kBlock = 32;  // values of a block
inline constexpr uint64_t kQuads = 64;  // bytes of four values of each lane
inline constexpr uint64_t kTile = 4;  // activation rows that one pass over a panel serves
inline constexpr uint64_t kQueryTile = 8;  // queries that one pass over keys or values serves
inline constexpr uint64_t kPanels = 2;  // panels that are unpacked side by side, at most
inline constexpr uint64_t kChunkBlocks = 20;  // blocks of a panel that are unpacked at a time
inline constexpr uint64_t kUnpackedBytes = 896;  // room for each of them
inline constexpr uint64_t kChunkColumns = 256;  // columns that are unpacked to f32 at a time
inline constexpr uint64_t kFactorBytes =
    80;  // room for a block of one activation row, as a kernel wants it
inline constexpr uint64_t kFactorRows = 8;  // such rows at a time

/// Where a format's scales lie: in the head of a unit (several blocks) and in each block.
enum class Scales : uint8_t {
  kNone,  // plain numbers
  kOne,  // block: d f16[16]
  kMinimum,  // block: d, m f16[16]
  kSuperMin,  // head: d, dmin f16[16]; block: sc, mn u8[16]
  // Two scales a block, of its values 0..15 and 16..31:
  kHalves,  // head: d f16[16]; block: sc_0, sc_1 i8[16][2]
  kHalvesMin,  // head: d, dmin f16[16]; block: sc_0 | mn_0 << 4, sc_1 | mn_1 << 4, u8[16][2]
};

/// How one format lies in a panel. A value is code - offset (codes are unsigned; Q8_0 is int8).
struct Layout {
  plumb_format format;
  uint32_t low_bits;  // 8, 4, 2; the bits of an element for plain numbers
  uint32_t high_bits;  // 0, 1, 2: on top of the low ones
  int32_t offset;
  Scales scales;
  uint32_t blocks;  // blocks that share a head: 1, or 8 in the K formats

  constexpr bool plain() const { return scales == Scales::kNone; }
  constexpr bool is_signed() const { return low_bits == 8; }
  constexpr bool halves() const {
    return scales == Scales::kHalves || scales == Scales::kHalvesMin;
  }
  constexpr uint32_t bits() const { return low_bits + high_bits; }
  constexpr uint64_t head_bytes() const {
    return scales == Scales::kHalves ? 32 : blocks > 1 ? 64 : 0;
  }
  constexpr uint64_t scale_bytes() const { return scales == Scales::kMinimum ? 64 : 32; }
  constexpr uint64_t low_bytes() const { return kLanes * kBlock * low_bits / 8; }
  constexpr uint64_t high_bytes() const { return kLanes * kBlock * high_bits / 8; }
  constexpr uint64_t block_bytes() const { return scale_bytes() + low_bytes() + high_bytes(); }
  constexpr uint64_t super_bytes() const { return head_bytes() + blocks * block_bytes(); }
  /// Values of one row that lie together, and the bytes of 16 rows of them.
  constexpr uint64_t unit_values() const { return plain() ? 1 : kBlock * blocks; }
  constexpr uint64_t unit_bytes() const { return plain() ? kLanes * low_bits / 8 : super_bytes(); }
};

inline constexpr Layout kLayouts[] = {
    {PLUMB_F32, 32, 0, 0, Scales::kNone, 1},      {PLUMB_F16, 16, 0, 0, Scales::kNone, 1},
    {PLUMB_BF16, 16, 0, 0, Scales::kNone, 1},     {PLUMB_Q4_0, 4, 0, 8, Scales::kOne, 1},
    {PLUMB_Q4_1, 4, 0, 0, Scales::kMinimum, 1},   {PLUMB_Q5_0, 4, 1, 16, Scales::kOne, 1},
    {PLUMB_Q5_1, 4, 1, 0, Scales::kMinimum, 1},   {PLUMB_Q8_0, 8, 0, 0, Scales::kOne, 1},
    {PLUMB_Q2_K, 2, 0, 0, Scales::kHalvesMin, 8}, {PLUMB_Q3_K, 2, 1, 4, Scales::kHalves, 8},
    {PLUMB_Q4_K, 4, 0, 0, Scales::kSuperMin, 8},  {PLUMB_Q5_K, 4, 1, 0, Scales::kSuperMin, 8},
    {PLUMB_Q6_K, 4, 2, 32, Scales::kHalves, 8},
};

/// Null for a format without a layout.
constexpr const Layout* find_layout(plumb_format format) {
  for (const Layout& layout : kLayouts) {
    if (layout.format == format) return &layout;
  }
  return nullptr;
}

/// 32 quantised activations and what every product with them needs.
struct ActivationBlock {
  int8_t codes[kBlock];
  float scale;
  float scaled_sum;  // scale * (float)(sum of the codes)
  int32_t start;  // -128 * sum of the codes
  int32_t half_start[2];  // the same of codes 0..15 and 16..31
  int16_t half_sum[2];
  uint32_t reserved[2];  // up to a cache line
};

/// One row of quantised activations.
struct ActivationRow {
  uint64_t width;

  constexpr uint64_t bytes() const { return width / kBlock * sizeof(ActivationBlock); }
};

}  // namespace plumbline::cpu
