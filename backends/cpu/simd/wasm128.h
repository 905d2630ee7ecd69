// wasm128.h: the vocabulary in WebAssembly's fixed-width SIMD, without relaxed instructions, whose
// results differ between engines. 16 lanes are four registers. scalar.h says what each word means.
#pragma once

#include <wasm_simd128.h>

#include <cstdint>

#include "backends/cpu/simd/registers.h"

namespace plumbline::cpu::PLUMB_CPU_VARIANT::simd {

inline constexpr int kParts = 4;
// A WebAssembly engine has 16 registers on x86-64, 32 on ARM.
inline constexpr int kRegisters = 4;
inline constexpr bool kByteDots = false;
inline constexpr int kByteBias = 0;

struct f32x16 {
  v128_t v[kParts];
};
struct i32x16 {
  v128_t v[kParts];
};
struct i16x32 {
  v128_t v[kParts];
};
struct quads {
  v128_t v[kParts];
};
/// Of four values a quad keeps what makes two products of i16 do for four of i8. A pair of codes
/// is the number w = c0 + 256 * c1, so w * a1 + c0 * (256 * a0 - a1) = 256 * (c0 * a0 + c1 * a1).
struct quad {
  v128_t second;  // a1, a3 for each lane
  v128_t first;  // 256 * a0 - a1, 256 * a2 - a3
};
/// The dot product times 256.
struct chain {
  v128_t v[kParts];
};

template <typename Out, typename Body>
PLUMB_INLINE Out each_part(Body body) {
  return {{body(0), body(1), body(2), body(3)}};
}
template <typename Out>
PLUMB_INLINE Out load_parts(const void* from) {
  const auto* bytes = static_cast<const uint8_t*>(from);
  return each_part<Out>([bytes](int i) { return wasm_v128_load(bytes + 16 * i); });
}
template <typename In>
PLUMB_INLINE void store_parts(void* to, In x) {
  for (int i = 0; i < kParts; ++i) wasm_v128_store(static_cast<uint8_t*>(to) + 16 * i, x.v[i]);
}

// f32
PLUMB_INLINE f32x16 load(const float* from) {
  return load_parts<f32x16>(from);
}
PLUMB_INLINE void store(float* to, f32x16 x) {
  store_parts(to, x);
}
PLUMB_INLINE f32x16 splat(float x) {
  return each_part<f32x16>([x](int) { return wasm_f32x4_splat(x); });
}
PLUMB_INLINE f32x16 add(f32x16 a, f32x16 b) {
  return each_part<f32x16>([=](int i) { return wasm_f32x4_add(a.v[i], b.v[i]); });
}
PLUMB_INLINE f32x16 sub(f32x16 a, f32x16 b) {
  return each_part<f32x16>([=](int i) { return wasm_f32x4_sub(a.v[i], b.v[i]); });
}
PLUMB_INLINE f32x16 mul(f32x16 a, f32x16 b) {
  return each_part<f32x16>([=](int i) { return wasm_f32x4_mul(a.v[i], b.v[i]); });
}
PLUMB_INLINE f32x16 div(f32x16 a, f32x16 b) {
  return each_part<f32x16>([=](int i) { return wasm_f32x4_div(a.v[i], b.v[i]); });
}
PLUMB_INLINE f32x16 max(f32x16 a, f32x16 b) {
  return each_part<f32x16>([=](int i) { return wasm_f32x4_pmax(b.v[i], a.v[i]); });
}
PLUMB_INLINE float sqrt(float x) {
  return __builtin_sqrtf(x);
}
PLUMB_INLINE i32x16 bits(f32x16 x) {
  return each_part<i32x16>([=](int i) { return x.v[i]; });
}
PLUMB_INLINE f32x16 from_bits(i32x16 x) {
  return each_part<f32x16>([=](int i) { return x.v[i]; });
}
PLUMB_INLINE f32x16 to_f32(i32x16 x) {
  return each_part<f32x16>([=](int i) { return wasm_f32x4_convert_i32x4(x.v[i]); });
}
/// The 15 bits of the magnitude lie 13 higher in binary32, whose exponent has another bias: 2^112
/// makes up for it, subnormals included. Infinity and NaN have all bits of the exponent.
PLUMB_INLINE f32x16 from_f16(const void* from) {
  const auto* halves = static_cast<const uint16_t*>(from);
  return each_part<f32x16>([halves](int i) {
    // The sign is copied down to where the magnitude begins.
    const v128_t shifted = wasm_i32x4_shl(wasm_i32x4_load16x4(halves + 4 * i), 13);
    const v128_t magnitude = wasm_v128_and(shifted, wasm_i32x4_const_splat(0x0fffe000));
    const v128_t number = wasm_f32x4_mul(
        wasm_v128_and(shifted, wasm_i32x4_const_splat(static_cast<int32_t>(0x8fffe000))),
        wasm_f32x4_const_splat(0x1p112f));
    const v128_t special = wasm_i32x4_gt(magnitude, wasm_i32x4_const_splat(0x0f7fffff));
    return wasm_v128_or(number, wasm_v128_and(special, wasm_i32x4_const_splat(0x7f800000)));
  });
}
PLUMB_INLINE f32x16 from_bf16(const void* from) {
  const auto* halves = static_cast<const uint16_t*>(from);
  return each_part<f32x16>(
      [halves](int i) { return wasm_i32x4_shl(wasm_u32x4_load16x4(halves + 4 * i), 16); });
}

/// Lanes as halves in i32. scalar.h has the same steps.
PLUMB_INLINE v128_t to_f16(v128_t x) {
  const v128_t sign = wasm_v128_and(wasm_u32x4_shr(x, 16), wasm_i32x4_const_splat(0x8000));
  const v128_t magnitude = wasm_v128_and(x, wasm_i32x4_const_splat(0x7fffffff));
  const v128_t small = wasm_i32x4_sub(wasm_f32x4_add(magnitude, wasm_f32x4_const_splat(0.5f)),
                                      wasm_i32x4_const_splat(0x3f000000));
  const v128_t odd = wasm_v128_and(wasm_u32x4_shr(magnitude, 13), wasm_i32x4_const_splat(1));
  const v128_t rounded =
      wasm_i32x4_add(wasm_i32x4_add(magnitude, wasm_i32x4_const_splat(0xfff)), odd);
  v128_t half = wasm_u32x4_shr(wasm_i32x4_sub(rounded, wasm_i32x4_const_splat(0x38000000)), 13);
  half = wasm_v128_bitselect(wasm_i32x4_const_splat(0x7c00), half,
                             wasm_i32x4_gt(rounded, wasm_i32x4_const_splat(0x477fffff)));
  half = wasm_v128_bitselect(small, half,
                             wasm_i32x4_gt(wasm_i32x4_const_splat(0x38800000), magnitude));
  half = wasm_v128_bitselect(wasm_i32x4_const_splat(0x7e00), half,
                             wasm_i32x4_gt(magnitude, wasm_i32x4_const_splat(0x7f800000)));
  return wasm_v128_or(sign, half);
}
PLUMB_INLINE void store_f16(void* to, f32x16 x) {
  auto* halves = static_cast<uint16_t*>(to);
  wasm_v128_store(halves, wasm_u16x8_narrow_i32x4(to_f16(x.v[0]), to_f16(x.v[1])));
  wasm_v128_store(halves + 8, wasm_u16x8_narrow_i32x4(to_f16(x.v[2]), to_f16(x.v[3])));
}

// i32
PLUMB_INLINE i32x16 load(const int32_t* from) {
  return load_parts<i32x16>(from);
}
PLUMB_INLINE void store(int32_t* to, i32x16 x) {
  store_parts(to, x);
}
PLUMB_INLINE i32x16 from_u8(const uint8_t* from) {
  const v128_t bytes = wasm_v128_load(from);
  const v128_t low = wasm_u16x8_extend_low_u8x16(bytes);
  const v128_t high = wasm_u16x8_extend_high_u8x16(bytes);
  return {{wasm_u32x4_extend_low_u16x8(low), wasm_u32x4_extend_high_u16x8(low),
           wasm_u32x4_extend_low_u16x8(high), wasm_u32x4_extend_high_u16x8(high)}};
}
PLUMB_INLINE i32x16 from_i8(const uint8_t* from) {
  const v128_t bytes = wasm_v128_load(from);
  const v128_t low = wasm_i16x8_extend_low_i8x16(bytes);
  const v128_t high = wasm_i16x8_extend_high_i8x16(bytes);
  return {{wasm_i32x4_extend_low_i16x8(low), wasm_i32x4_extend_high_i16x8(low),
           wasm_i32x4_extend_low_i16x8(high), wasm_i32x4_extend_high_i16x8(high)}};
}
PLUMB_INLINE void store_i8(int8_t* to, i32x16 x) {
  wasm_v128_store(to, wasm_i8x16_narrow_i16x8(wasm_i16x8_narrow_i32x4(x.v[0], x.v[1]),
                                              wasm_i16x8_narrow_i32x4(x.v[2], x.v[3])));
}
PLUMB_INLINE i32x16 splat(int32_t x) {
  return each_part<i32x16>([x](int) { return wasm_i32x4_splat(x); });
}
PLUMB_INLINE i32x16 add(i32x16 a, i32x16 b) {
  return each_part<i32x16>([=](int i) { return wasm_i32x4_add(a.v[i], b.v[i]); });
}
PLUMB_INLINE i32x16 sub(i32x16 a, i32x16 b) {
  return each_part<i32x16>([=](int i) { return wasm_i32x4_sub(a.v[i], b.v[i]); });
}
PLUMB_INLINE i32x16 bit_and(i32x16 a, i32x16 b) {
  return each_part<i32x16>([=](int i) { return wasm_v128_and(a.v[i], b.v[i]); });
}
PLUMB_INLINE i32x16 bit_or(i32x16 a, i32x16 b) {
  return each_part<i32x16>([=](int i) { return wasm_v128_or(a.v[i], b.v[i]); });
}
PLUMB_INLINE i32x16 shift_left(i32x16 x, int n) {
  return each_part<i32x16>([=](int i) { return wasm_i32x4_shl(x.v[i], static_cast<uint32_t>(n)); });
}
PLUMB_INLINE i32x16 shift_right(i32x16 x, int n) {
  return each_part<i32x16>([=](int i) { return wasm_i32x4_shr(x.v[i], static_cast<uint32_t>(n)); });
}
PLUMB_INLINE i32x16 greater(i32x16 a, i32x16 b) {
  return each_part<i32x16>([=](int i) { return wasm_i32x4_gt(a.v[i], b.v[i]); });
}
PLUMB_INLINE i32x16 greater(f32x16 a, f32x16 b) {
  return each_part<i32x16>([=](int i) { return wasm_f32x4_gt(a.v[i], b.v[i]); });
}
PLUMB_INLINE f32x16 select(i32x16 mask, f32x16 a, f32x16 b) {
  return each_part<f32x16>([=](int i) { return wasm_v128_bitselect(a.v[i], b.v[i], mask.v[i]); });
}
PLUMB_INLINE uint32_t mask_bits(i32x16 mask) {
  uint32_t out = 0;
  for (int i = 0; i < kParts; ++i) out |= wasm_i32x4_bitmask(mask.v[i]) << (4 * i);
  return out;
}
PLUMB_INLINE float fold_add(f32x16 x) {
  const v128_t eight[2] = {wasm_f32x4_add(x.v[0], x.v[2]), wasm_f32x4_add(x.v[1], x.v[3])};
  const v128_t four = wasm_f32x4_add(eight[0], eight[1]);
  const v128_t two = wasm_f32x4_add(four, wasm_i64x2_shuffle(four, four, 1, 1));
  return wasm_f32x4_extract_lane(two, 0) + wasm_f32x4_extract_lane(two, 1);
}
PLUMB_INLINE float fold_max(f32x16 x) {
  const v128_t four =
      wasm_f32x4_pmax(wasm_f32x4_pmax(x.v[0], x.v[1]), wasm_f32x4_pmax(x.v[2], x.v[3]));
  const v128_t two = wasm_f32x4_pmax(four, wasm_i64x2_shuffle(four, four, 1, 1));
  const float a = wasm_f32x4_extract_lane(two, 0);
  const float b = wasm_f32x4_extract_lane(two, 1);
  return a > b ? a : b;
}
PLUMB_INLINE int32_t fold_add(i32x16 x) {
  const v128_t four =
      wasm_i32x4_add(wasm_i32x4_add(x.v[0], x.v[1]), wasm_i32x4_add(x.v[2], x.v[3]));
  const v128_t two = wasm_i32x4_add(four, wasm_i64x2_shuffle(four, four, 1, 1));
  return static_cast<int32_t>(static_cast<uint32_t>(wasm_i32x4_extract_lane(two, 0)) +
                              static_cast<uint32_t>(wasm_i32x4_extract_lane(two, 1)));
}

// Pairs of i16
PLUMB_INLINE i16x32 load_pairs(const void* from) {
  return load_parts<i16x32>(from);
}
PLUMB_INLINE void store_pairs(void* to, i16x32 x) {
  store_parts(to, x);
}
PLUMB_INLINE i16x32 pairs_u8(const uint8_t* from) {
  const v128_t first = wasm_v128_load(from);
  const v128_t last = wasm_v128_load(from + 16);
  return {{wasm_u16x8_extend_low_u8x16(first), wasm_u16x8_extend_high_u8x16(first),
           wasm_u16x8_extend_low_u8x16(last), wasm_u16x8_extend_high_u8x16(last)}};
}
PLUMB_INLINE i16x32 pairs_i8(const uint8_t* from) {
  const v128_t first = wasm_v128_load(from);
  const v128_t last = wasm_v128_load(from + 16);
  return {{wasm_i16x8_extend_low_i8x16(first), wasm_i16x8_extend_high_i8x16(first),
           wasm_i16x8_extend_low_i8x16(last), wasm_i16x8_extend_high_i8x16(last)}};
}
PLUMB_INLINE i16x32 pair(i32x16 even, i32x16 odd) {
  return each_part<i16x32>([=](int i) {
    return wasm_v128_or(wasm_v128_and(even.v[i], wasm_i32x4_const_splat(0xffff)),
                        wasm_i32x4_shl(odd.v[i], 16));
  });
}
PLUMB_INLINE i32x16 evens(i16x32 x) {
  return each_part<i32x16>([=](int i) { return wasm_i32x4_shr(wasm_i32x4_shl(x.v[i], 16), 16); });
}
PLUMB_INLINE i32x16 odds(i16x32 x) {
  return each_part<i32x16>([=](int i) { return wasm_i32x4_shr(x.v[i], 16); });
}
PLUMB_INLINE i16x32 evens_twice(i16x32 x) {
  return each_part<i16x32>(
      [=](int i) { return wasm_i16x8_shuffle(x.v[i], x.v[i], 0, 0, 2, 2, 4, 4, 6, 6); });
}
PLUMB_INLINE i16x32 odds_twice(i16x32 x) {
  return each_part<i16x32>(
      [=](int i) { return wasm_i16x8_shuffle(x.v[i], x.v[i], 1, 1, 3, 3, 5, 5, 7, 7); });
}
PLUMB_INLINE i16x32 bit_and(i16x32 x, int mask) {
  const v128_t keep = wasm_i16x8_splat(static_cast<int16_t>(mask));
  return each_part<i16x32>([=](int i) { return wasm_v128_and(x.v[i], keep); });
}
PLUMB_INLINE i16x32 shift_right(i16x32 x, int n) {
  return each_part<i16x32>([=](int i) { return wasm_i16x8_shr(x.v[i], static_cast<uint32_t>(n)); });
}
PLUMB_INLINE i16x32 splat_pair(const int16_t* from) {
  const v128_t both = wasm_v128_load32_splat(from);
  return each_part<i16x32>([both](int) { return both; });
}
PLUMB_INLINE i32x16 dot_pairs(i16x32 a, i16x32 b) {
  return each_part<i32x16>([=](int i) { return wasm_i32x4_dot_i16x8(a.v[i], b.v[i]); });
}

// Codes
PLUMB_INLINE quads load_quads(const uint8_t* from) {
  return load_parts<quads>(from);
}
PLUMB_INLINE void store_quads(uint8_t* to, quads x) {
  store_parts(to, x);
}
PLUMB_INLINE quads field(quads x, int shift, int mask) {
  const v128_t keep = wasm_i8x16_splat(static_cast<int8_t>(mask));
  return each_part<quads>([=](int i) {
    v128_t moved = x.v[i];
    if (shift > 0) moved = wasm_u16x8_shr(moved, static_cast<uint32_t>(shift));
    if (shift < 0) moved = wasm_i16x8_shl(moved, static_cast<uint32_t>(-shift));
    return wasm_v128_and(moved, keep);
  });
}
PLUMB_INLINE quads bit_or(quads a, quads b) {
  return each_part<quads>([=](int i) { return wasm_v128_or(a.v[i], b.v[i]); });
}
PLUMB_INLINE quads add(quads x, int each) {
  const v128_t n = wasm_i8x16_splat(static_cast<int8_t>(each));
  return each_part<quads>([=](int i) { return wasm_i8x16_add(x.v[i], n); });
}
PLUMB_INLINE quads mul(quads x, i32x16 scale) {
  const i16x32 twice = pair(scale, scale);
  return each_part<quads>([=](int i) {
    const v128_t even = wasm_i16x8_mul(x.v[i], twice.v[i]);
    const v128_t odd = wasm_i16x8_mul(wasm_u16x8_shr(x.v[i], 8), twice.v[i]);
    return wasm_v128_bitselect(even, wasm_i16x8_shl(odd, 8), wasm_i16x8_const_splat(0xff));
  });
}
PLUMB_INLINE i32x16 byte_u8(quads x, int j) {
  return each_part<i32x16>([=](int i) {
    return wasm_v128_and(wasm_u32x4_shr(x.v[i], static_cast<uint32_t>(8 * j)),
                         wasm_i32x4_const_splat(0xff));
  });
}
PLUMB_INLINE i32x16 byte_i8(quads x, int j) {
  return each_part<i32x16>([=](int i) {
    return wasm_i32x4_shr(wasm_i32x4_shl(x.v[i], static_cast<uint32_t>(24 - 8 * j)), 24);
  });
}

// Dot products
PLUMB_INLINE quad splat_quad(const int8_t* from) {
  const v128_t four = wasm_v128_load32_splat(from);
  const v128_t second = wasm_i16x8_shr(four, 8);
  return {second, wasm_i16x8_sub(wasm_i16x8_shl(four, 8), second)};
}
PLUMB_INLINE chain start_chain() {
  return each_part<chain>([](int) { return wasm_i32x4_const_splat(0); });
}
/// 32 products of codes below 2^6 with 127, times 256, are far below 2^31.
constexpr int chain_length(int code_bits) {
  return code_bits < 8 ? 8 : 0;
}
PLUMB_INLINE chain extend(chain sum, quads w, quad a) {
  return each_part<chain>([=](int i) {
    const v128_t first = wasm_v128_and(w.v[i], wasm_i16x8_const_splat(0xff));
    const v128_t more = wasm_i32x4_add(sum.v[i], wasm_i32x4_dot_i16x8(w.v[i], a.second));
    return wasm_i32x4_add(more, wasm_i32x4_dot_i16x8(first, a.first));
  });
}
PLUMB_INLINE i32x16 finish(chain sum) {
  return each_part<i32x16>([=](int i) { return wasm_i32x4_shr(sum.v[i], 8); });
}
PLUMB_INLINE i32x16 finish(chain sum, i16x32 scale) {
  return each_part<i32x16>([=](int i) {
    const v128_t one = wasm_i32x4_shr(scale.v[i], 16);
    return wasm_i32x4_mul(wasm_i32x4_shr(sum.v[i], 8), one);
  });
}
PLUMB_INLINE i32x16 add_dot(i32x16 sum, quads w, quad a) {
  return each_part<i32x16>([=](int i) {
    const v128_t first = wasm_i16x8_shr(wasm_i16x8_shl(w.v[i], 8), 8);
    const v128_t second = wasm_i16x8_shr(w.v[i], 8);
    const v128_t a_first = wasm_i16x8_shr(wasm_i16x8_add(a.first, a.second), 8);
    return wasm_i32x4_add(wasm_i32x4_add(sum.v[i], wasm_i32x4_dot_i16x8(first, a_first)),
                          wasm_i32x4_dot_i16x8(second, a.second));
  });
}

}  // namespace plumbline::cpu::PLUMB_CPU_VARIANT::simd
