// neon.h: the vocabulary in NEON; 16 lanes are four registers. With -march=armv8.2-a+dotprod the
// products of codes are dot product instructions, else widening multiplications. No FMA, which the
// compiler must not make either (-ffp-contract=off): core/doc/numerics.md. scalar.h says what each
// word means.
#pragma once

#include <arm_neon.h>

#include <cstdint>
#include <cstring>

#include "backends/cpu/simd/registers.h"

#if !defined(__aarch64__)
#error "64-bit ARM only: 32-bit NEON flushes subnormals and has no exact division"
#endif

namespace plumbline::cpu::PLUMB_CPU_VARIANT::simd {

inline constexpr int kRegisters = 8;  // that hold 16 lanes

struct f32x16 {
  float32x4_t v[4];
};
struct i32x16 {
  int32x4_t v[4];
};
struct i16x32 {
  int16x8_t v[4];
};
struct quads {
  uint8x16_t v[4];
};
struct quad {
  int8x16_t v;
};

/// A word register by register.
template <typename Out, typename Body>
PLUMB_INLINE Out each(Body body) {
  return {{body(0), body(1), body(2), body(3)}};
}

// f32
PLUMB_INLINE f32x16 load(const float* from) {
  return each<f32x16>([&](int i) { return vld1q_f32(from + 4 * i); });
}
PLUMB_INLINE void store(float* to, f32x16 x) {
  PLUMB_UNROLL(4)
  for (int i = 0; i < 4; ++i) vst1q_f32(to + 4 * i, x.v[i]);
}
PLUMB_INLINE f32x16 splat(float x) {
  return each<f32x16>([&](int) { return vdupq_n_f32(x); });
}
PLUMB_INLINE f32x16 add(f32x16 a, f32x16 b) {
  return each<f32x16>([&](int i) { return vaddq_f32(a.v[i], b.v[i]); });
}
PLUMB_INLINE f32x16 sub(f32x16 a, f32x16 b) {
  return each<f32x16>([&](int i) { return vsubq_f32(a.v[i], b.v[i]); });
}
PLUMB_INLINE f32x16 mul(f32x16 a, f32x16 b) {
  return each<f32x16>([&](int i) { return vmulq_f32(a.v[i], b.v[i]); });
}
PLUMB_INLINE f32x16 div(f32x16 a, f32x16 b) {
  return each<f32x16>([&](int i) { return vdivq_f32(a.v[i], b.v[i]); });
}
/// Not vmaxq_f32, which gives NaN if either is, and +0 of two zeros.
PLUMB_INLINE float32x4_t larger(float32x4_t a, float32x4_t b) {
  return vbslq_f32(vcgtq_f32(a, b), a, b);
}
PLUMB_INLINE f32x16 max(f32x16 a, f32x16 b) {
  return each<f32x16>([&](int i) { return larger(a.v[i], b.v[i]); });
}
PLUMB_INLINE float sqrt(float x) {
  return __builtin_sqrtf(x);
}
PLUMB_INLINE i32x16 bits(f32x16 x) {
  return each<i32x16>([&](int i) { return vreinterpretq_s32_f32(x.v[i]); });
}
PLUMB_INLINE f32x16 from_bits(i32x16 x) {
  return each<f32x16>([&](int i) { return vreinterpretq_f32_s32(x.v[i]); });
}
PLUMB_INLINE f32x16 to_f32(i32x16 x) {
  return each<f32x16>([&](int i) { return vcvtq_f32_s32(x.v[i]); });
}
PLUMB_INLINE uint16x4_t halves_at(const void* from, int i) {
  uint16x4_t four;
  std::memcpy(&four, static_cast<const uint8_t*>(from) + 8 * i, sizeof four);
  return four;
}
PLUMB_INLINE f32x16 from_f16(const void* from) {
  return each<f32x16>(
      [&](int i) { return vcvt_f32_f16(vreinterpret_f16_u16(halves_at(from, i))); });
}
PLUMB_INLINE f32x16 from_bf16(const void* from) {
  return each<f32x16>(
      [&](int i) { return vreinterpretq_f32_u32(vshll_n_u16(halves_at(from, i), 16)); });
}
PLUMB_INLINE void store_f16(void* to, f32x16 x) {
  PLUMB_UNROLL(4)
  for (int i = 0; i < 4; ++i) {
    const uint16x4_t four = vreinterpret_u16_f16(vcvt_f16_f32(x.v[i]));
    std::memcpy(static_cast<uint8_t*>(to) + 8 * i, &four, sizeof four);
  }
}

// i32
PLUMB_INLINE i32x16 load(const int32_t* from) {
  return each<i32x16>([&](int i) { return vld1q_s32(from + 4 * i); });
}
PLUMB_INLINE void store(int32_t* to, i32x16 x) {
  PLUMB_UNROLL(4)
  for (int i = 0; i < 4; ++i) vst1q_s32(to + 4 * i, x.v[i]);
}
PLUMB_INLINE i32x16 from_u8(const uint8_t* from) {
  const uint8x16_t bytes = vld1q_u8(from);
  const uint16x8_t low = vmovl_u8(vget_low_u8(bytes)), high = vmovl_high_u8(bytes);
  return {{vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(low))),
           vreinterpretq_s32_u32(vmovl_high_u16(low)),
           vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(high))),
           vreinterpretq_s32_u32(vmovl_high_u16(high))}};
}
PLUMB_INLINE i32x16 from_i8(const uint8_t* from) {
  const int8x16_t bytes = vreinterpretq_s8_u8(vld1q_u8(from));
  const int16x8_t low = vmovl_s8(vget_low_s8(bytes)), high = vmovl_high_s8(bytes);
  return {{vmovl_s16(vget_low_s16(low)), vmovl_high_s16(low), vmovl_s16(vget_low_s16(high)),
           vmovl_high_s16(high)}};
}
PLUMB_INLINE void store_i8(int8_t* to, i32x16 x) {
  const int16x8_t low = vmovn_high_s32(vmovn_s32(x.v[0]), x.v[1]);
  const int16x8_t high = vmovn_high_s32(vmovn_s32(x.v[2]), x.v[3]);
  vst1q_s8(to, vmovn_high_s16(vmovn_s16(low), high));
}
PLUMB_INLINE i32x16 splat(int32_t x) {
  return each<i32x16>([&](int) { return vdupq_n_s32(x); });
}
PLUMB_INLINE i32x16 add(i32x16 a, i32x16 b) {
  return each<i32x16>([&](int i) { return vaddq_s32(a.v[i], b.v[i]); });
}
PLUMB_INLINE i32x16 sub(i32x16 a, i32x16 b) {
  return each<i32x16>([&](int i) { return vsubq_s32(a.v[i], b.v[i]); });
}
PLUMB_INLINE i32x16 bit_and(i32x16 a, i32x16 b) {
  return each<i32x16>([&](int i) { return vandq_s32(a.v[i], b.v[i]); });
}
PLUMB_INLINE i32x16 bit_or(i32x16 a, i32x16 b) {
  return each<i32x16>([&](int i) { return vorrq_s32(a.v[i], b.v[i]); });
}
// By the compiler's vector operators: n is a constant where these are used, but not yet here, and
// intrinsics with a constant would ask for one.
PLUMB_INLINE i32x16 shift_left(i32x16 x, int n) {
  return each<i32x16>([&](int i) { return x.v[i] << n; });
}
PLUMB_INLINE i32x16 shift_right(i32x16 x, int n) {
  return each<i32x16>([&](int i) { return x.v[i] >> n; });
}
PLUMB_INLINE i32x16 greater(i32x16 a, i32x16 b) {
  return each<i32x16>([&](int i) { return vreinterpretq_s32_u32(vcgtq_s32(a.v[i], b.v[i])); });
}
PLUMB_INLINE i32x16 greater(f32x16 a, f32x16 b) {
  return each<i32x16>([&](int i) { return vreinterpretq_s32_u32(vcgtq_f32(a.v[i], b.v[i])); });
}
PLUMB_INLINE f32x16 select(i32x16 mask, f32x16 a, f32x16 b) {
  return each<f32x16>(
      [&](int i) { return vbslq_f32(vreinterpretq_u32_s32(mask.v[i]), a.v[i], b.v[i]); });
}
PLUMB_INLINE uint32_t mask_bits(i32x16 mask) {
  static constexpr int32_t kBits[kWidth] = {1 << 0,  1 << 1,  1 << 2,  1 << 3, 1 << 4,  1 << 5,
                                            1 << 6,  1 << 7,  1 << 8,  1 << 9, 1 << 10, 1 << 11,
                                            1 << 12, 1 << 13, 1 << 14, 1 << 15};
  const i32x16 set = bit_and(mask, load(kBits));
  return static_cast<uint32_t>(
      vaddvq_s32(vorrq_s32(vorrq_s32(set.v[0], set.v[1]), vorrq_s32(set.v[2], set.v[3]))));
}

PLUMB_INLINE float fold_add(f32x16 x) {
  const float32x4_t four = vaddq_f32(vaddq_f32(x.v[0], x.v[2]), vaddq_f32(x.v[1], x.v[3]));
  const float32x2_t two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
  return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
}
PLUMB_INLINE float fold_max(f32x16 x) {
  const float32x4_t four = larger(larger(x.v[0], x.v[2]), larger(x.v[1], x.v[3]));
  const float32x4_t two = larger(four, vextq_f32(four, four, 2));
  return vgetq_lane_f32(larger(two, vdupq_laneq_f32(two, 1)), 0);
}
PLUMB_INLINE int32_t fold_add(i32x16 x) {
  return vaddvq_s32(vaddq_s32(vaddq_s32(x.v[0], x.v[1]), vaddq_s32(x.v[2], x.v[3])));
}

// Pairs of i16
PLUMB_INLINE i16x32 load_pairs(const void* from) {
  i16x32 out;
  std::memcpy(&out, from, sizeof out);
  return out;
}
PLUMB_INLINE void store_pairs(void* to, i16x32 x) {
  std::memcpy(to, &x, sizeof x);
}
PLUMB_INLINE i16x32 pairs_u8(const uint8_t* from) {
  return each<i16x32>(
      [&](int i) { return vreinterpretq_s16_u16(vmovl_u8(vld1_u8(from + 8 * i))); });
}
PLUMB_INLINE i16x32 pairs_i8(const uint8_t* from) {
  return each<i16x32>([&](int i) { return vmovl_s8(vreinterpret_s8_u8(vld1_u8(from + 8 * i))); });
}
PLUMB_INLINE i16x32 pair(i32x16 even, i32x16 odd) {
  return each<i16x32>([&](int i) {
    return vtrn1q_s16(vreinterpretq_s16_s32(even.v[i]), vreinterpretq_s16_s32(odd.v[i]));
  });
}
PLUMB_INLINE i32x16 lanes_of(i16x32 x) {
  return each<i32x16>([&](int i) { return vreinterpretq_s32_s16(x.v[i]); });
}
PLUMB_INLINE i32x16 evens(i16x32 x) {
  return shift_right(shift_left(lanes_of(x), 16), 16);
}
PLUMB_INLINE i32x16 odds(i16x32 x) {
  return shift_right(lanes_of(x), 16);
}
PLUMB_INLINE i16x32 evens_twice(i16x32 x) {
  return each<i16x32>([&](int i) { return vtrn1q_s16(x.v[i], x.v[i]); });
}
PLUMB_INLINE i16x32 odds_twice(i16x32 x) {
  return each<i16x32>([&](int i) { return vtrn2q_s16(x.v[i], x.v[i]); });
}
PLUMB_INLINE i16x32 bit_and(i16x32 x, int mask) {
  const int16x8_t keep = vdupq_n_s16(static_cast<int16_t>(mask));
  return each<i16x32>([&](int i) { return vandq_s16(x.v[i], keep); });
}
PLUMB_INLINE i16x32 shift_right(i16x32 x, int n) {
  return each<i16x32>([&](int i) { return x.v[i] >> n; });
}
PLUMB_INLINE i16x32 splat_pair(const int16_t* from) {
  int32_t both;
  std::memcpy(&both, from, sizeof both);
  return each<i16x32>([&](int) { return vreinterpretq_s16_s32(vdupq_n_s32(both)); });
}
PLUMB_INLINE i32x16 dot_pairs(i16x32 a, i16x32 b) {
  return each<i32x16>([&](int i) {
    return vpaddq_s32(vmull_s16(vget_low_s16(a.v[i]), vget_low_s16(b.v[i])),
                      vmull_high_s16(a.v[i], b.v[i]));
  });
}

// Codes
PLUMB_INLINE quads load_quads(const uint8_t* from) {
  return each<quads>([&](int i) { return vld1q_u8(from + 16 * i); });
}
PLUMB_INLINE void store_quads(uint8_t* to, quads x) {
  PLUMB_UNROLL(4)
  for (int i = 0; i < 4; ++i) vst1q_u8(to + 16 * i, x.v[i]);
}
PLUMB_INLINE quads field(quads x, int shift, int mask) {
  const uint8x16_t keep = vdupq_n_u8(static_cast<uint8_t>(mask));
  return each<quads>(
      [&](int i) { return vandq_u8(shift >= 0 ? x.v[i] >> shift : x.v[i] << -shift, keep); });
}
PLUMB_INLINE quads bit_or(quads a, quads b) {
  return each<quads>([&](int i) { return vorrq_u8(a.v[i], b.v[i]); });
}
PLUMB_INLINE quads add(quads x, int n) {
  const uint8x16_t all = vdupq_n_u8(static_cast<uint8_t>(n));
  return each<quads>([&](int i) { return vaddq_u8(x.v[i], all); });
}
PLUMB_INLINE quads mul(quads x, i32x16 scale) {
  const uint8x16_t lowest = {0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12};
  return each<quads>([&](int i) {
    return vmulq_u8(x.v[i], vqtbl1q_u8(vreinterpretq_u8_s32(scale.v[i]), lowest));
  });
}
PLUMB_INLINE i32x16 lanes_of(quads x) {
  return each<i32x16>([&](int i) { return vreinterpretq_s32_u8(x.v[i]); });
}
PLUMB_INLINE i32x16 byte_u8(quads x, int j) {
  return bit_and(shift_right(lanes_of(x), 8 * j), splat(int32_t{0xff}));
}
PLUMB_INLINE i32x16 byte_i8(quads x, int j) {
  return shift_right(shift_left(lanes_of(x), 24 - 8 * j), 24);
}

// Dot products. Unsigned codes are below 128, so they are signed ones too.
PLUMB_INLINE quad splat_quad(const int8_t* from) {
  int32_t four;
  std::memcpy(&four, from, sizeof four);
  return {vreinterpretq_s8_s32(vdupq_n_s32(four))};
}
inline constexpr int kByteBias = 0;

#if defined(__ARM_FEATURE_DOTPROD)

inline constexpr bool kByteDots = true;

struct chain {
  i32x16 sum;
};

PLUMB_INLINE i32x16 add_dot(i32x16 sum, quads w, quad a) {
  return each<i32x16>([&](int i) { return vdotq_s32(sum.v[i], vreinterpretq_s8_u8(w.v[i]), a.v); });
}
PLUMB_INLINE chain start_chain() {
  return {splat(int32_t{0})};
}
constexpr int chain_length(int code_bits) {
  return code_bits < 8 ? 8 : 0;
}
PLUMB_INLINE chain extend(chain c, quads w, quad a) {
  return {add_dot(c.sum, w, a)};
}
PLUMB_INLINE i32x16 finish(chain c) {
  return c.sum;
}

#else

inline constexpr bool kByteDots = false;

/// For each register the products of its lanes 0 and 1, and of 2 and 3, one by one in i16.
struct chain {
  int16x8_t low[4], high[4];
};

/// Two products are at most 2 * 128 * 127 = 32512 in i16.
PLUMB_INLINE i32x16 add_dot(i32x16 sum, quads w, quad a) {
  return each<i32x16>([&](int i) {
    const int8x16_t code = vreinterpretq_s8_u8(w.v[i]);
    return vpadalq_s16(sum.v[i], vpaddq_s16(vmull_s8(vget_low_s8(code), vget_low_s8(a.v)),
                                            vmull_high_s8(code, a.v)));
  });
}
PLUMB_INLINE chain start_chain() {
  const int16x8_t zero = vdupq_n_s16(0);
  return {{zero, zero, zero, zero}, {zero, zero, zero, zero}};
}
constexpr int chain_length(int code_bits) {
  return i16_chain_length(code_bits, 1);
}
PLUMB_INLINE chain extend(chain c, quads w, quad a) {
  PLUMB_UNROLL(4)
  for (int i = 0; i < 4; ++i) {
    const int8x16_t code = vreinterpretq_s8_u8(w.v[i]);
    c.low[i] = vmlal_s8(c.low[i], vget_low_s8(code), vget_low_s8(a.v));
    c.high[i] = vmlal_high_s8(c.high[i], code, a.v);
  }
  return c;
}
PLUMB_INLINE i32x16 finish(chain c) {
  return each<i32x16>(
      [&](int i) { return vpaddq_s32(vpaddlq_s16(c.low[i]), vpaddlq_s16(c.high[i])); });
}

#endif

PLUMB_INLINE i32x16 finish(chain c, i16x32 scale) {
  const i32x16 sum = finish(c), factor = odds(scale);  // its pairs are twice the same
  return each<i32x16>([&](int i) { return vmulq_s32(sum.v[i], factor.v[i]); });
}

}  // namespace plumbline::cpu::PLUMB_CPU_VARIANT::simd
