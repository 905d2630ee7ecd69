// panel.h: reading a prepared block: its codes as quads, its scales, its values.
#pragma once

#include "backends/cpu/kernels/math.h"
#include "backends/cpu/layout.h"

namespace plumbline::cpu::PLUMB_CPU_VARIANT {

/// The codes 4 * group .. 4 * group + 3 of a block whose planes start at `planes`.
template <Layout L>
PLUMB_INLINE quads codes(const uint8_t* planes, int group) {
  constexpr int kLow = static_cast<int>(L.low_bits);
  constexpr int kHigh = static_cast<int>(L.high_bits);
  constexpr int kPerLow = 8 / kLow;
  const quads low = load_quads(planes + kQuads * (group / kPerLow));
  if constexpr (kLow == 8) {
    return low;
  } else {
    const quads code = field(low, kLow * (group % kPerLow), (1 << kLow) - 1);
    if constexpr (kHigh == 0) {
      return code;
    } else {
      constexpr int kPerHigh = 8 / kHigh;
      const quads high = load_quads(planes + L.low_bytes() + kQuads * (group / kPerHigh));
      return bit_or(code,
                    field(high, kHigh * (group % kPerHigh) - kLow, ((1 << kHigh) - 1) << kLow));
    }
  }
}

/// The scales of a block of 16 rows, for each way that scales lie. d: the factor of the whole
/// block, sc included where it has one; m: the minimum, which kSuperMin takes off and kMinimum
/// adds, and dmin for kHalvesMin.
template <Scales>
struct BlockScales {
  f32x16 d;
};
template <>
struct BlockScales<Scales::kMinimum> {
  f32x16 d, m;
};
template <>
struct BlockScales<Scales::kSuperMin> {
  f32x16 d, m;
};
template <>
struct BlockScales<Scales::kHalves> {
  f32x16 d;
  i16x32 scale;  // (sc_0, sc_1)
};
template <>
struct BlockScales<Scales::kHalvesMin> {
  f32x16 d, m;
  i16x32 scale, minimum;  // (sc_0, sc_1), (mn_0, mn_1)
};

/// head: the start of the super-block; block: the block inside it. Converting the head's scales
/// again for each block is faster than keeping them: it leaves the registers to the codes.
template <Layout L>
PLUMB_INLINE BlockScales<L.scales> block_scales([[maybe_unused]] const uint8_t* head,
                                                const uint8_t* block) {
  BlockScales<L.scales> s;
  if constexpr (L.scales == Scales::kOne) {
    s.d = from_f16(block);
  } else if constexpr (L.scales == Scales::kMinimum) {
    s.d = from_f16(block);
    s.m = from_f16(block + 32);
  } else if constexpr (L.scales == Scales::kSuperMin) {
    s.d = mul(from_f16(head), to_f32(from_u8(block)));
    s.m = mul(from_f16(head + 32), to_f32(from_u8(block + 16)));
  } else if constexpr (L.scales == Scales::kHalves) {
    s.d = from_f16(head);
    s.scale = pairs_i8(block);
  } else {
    static_assert(L.scales == Scales::kHalvesMin);
    const i16x32 packed = pairs_u8(block);
    s.d = from_f16(head);
    s.m = from_f16(head + 32);
    s.scale = bit_and(packed, 15);
    s.minimum = shift_right(packed, 4);
  }
  return s;
}

/// The block as f32[32][16], by the format's own expression: d * q, d * q + m, (d * sc) * q - dmin
/// * mn.
template <Layout L>
PLUMB_INLINE void dequantise_block(const uint8_t* head, const uint8_t* block, float* out) {
  const uint8_t* planes = block + L.scale_bytes();
  const i32x16 offset = splat(L.offset);
  f32x16 d[2];
  [[maybe_unused]] f32x16 m[2];
  const auto s = block_scales<L>(head, block);
  if constexpr (L.halves()) {
    d[0] = mul(s.d, to_f32(evens(s.scale)));
    d[1] = mul(s.d, to_f32(odds(s.scale)));
  } else {
    d[0] = d[1] = s.d;
  }
  if constexpr (L.scales == Scales::kHalvesMin) {
    m[0] = mul(s.m, to_f32(evens(s.minimum)));
    m[1] = mul(s.m, to_f32(odds(s.minimum)));
  } else if constexpr (L.scales != Scales::kOne && L.scales != Scales::kHalves) {
    m[0] = m[1] = s.m;
  }
  PLUMB_UNROLL(8)
  for (int group = 0; group < 8; ++group) {
    const quads code = codes<L>(planes, group);
    for (int j = 0; j < 4; ++j) {
      const i32x16 q = L.is_signed() ? byte_i8(code, j) : sub(byte_u8(code, j), offset);
      f32x16 value = mul(d[group / 4], to_f32(q));
      if constexpr (L.scales == Scales::kMinimum) value = add(value, m[group / 4]);
      if constexpr (L.scales == Scales::kSuperMin || L.scales == Scales::kHalvesMin) {
        value = sub(value, m[group / 4]);
      }
      store(out + (4 * group + j) * kWidth, value);
    }
  }
}

/// Calls body.operator()<L>() with the layout of a format as a constant. Quantised formats only.
template <typename Body>
PLUMB_INLINE void with_layout(plumb_format format, Body body) {
  switch (format) {
    case PLUMB_Q4_0:
      return body.template operator()<*find_layout(PLUMB_Q4_0)>();
    case PLUMB_Q4_1:
      return body.template operator()<*find_layout(PLUMB_Q4_1)>();
    case PLUMB_Q5_0:
      return body.template operator()<*find_layout(PLUMB_Q5_0)>();
    case PLUMB_Q5_1:
      return body.template operator()<*find_layout(PLUMB_Q5_1)>();
    case PLUMB_Q8_0:
      return body.template operator()<*find_layout(PLUMB_Q8_0)>();
    case PLUMB_Q2_K:
      return body.template operator()<*find_layout(PLUMB_Q2_K)>();
    case PLUMB_Q3_K:
      return body.template operator()<*find_layout(PLUMB_Q3_K)>();
    case PLUMB_Q4_K:
      return body.template operator()<*find_layout(PLUMB_Q4_K)>();
    case PLUMB_Q5_K:
      return body.template operator()<*find_layout(PLUMB_Q5_K)>();
    case PLUMB_Q6_K:
      return body.template operator()<*find_layout(PLUMB_Q6_K)>();
    default:
      return;
  }
}

}  // namespace plumbline::cpu::PLUMB_CPU_VARIANT
