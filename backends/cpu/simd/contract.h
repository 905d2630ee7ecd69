// contract.h: the closed vocabulary: every simd/<isa>.h has these words with these types, and
// kernels use no others. PLUMB_CPU_SIMD is the header of the instruction set that this object is
// compiled for.
#pragma once

#include PLUMB_CPU_SIMD

#include <type_traits>

namespace plumbline::cpu::PLUMB_CPU_VARIANT::simd {

template <typename Expected, typename Seen>
inline constexpr bool kGives = std::is_same_v<Expected, Seen>;

#define PLUMB_WORD(expected, expression) \
  static_assert(kGives<expected, decltype(expression)>, #expression)

namespace contract {
extern const f32x16 f;
extern const i32x16 i;
extern const i16x32 p;
extern const quads w;
extern const quad a;
extern const chain c;
extern float* f32s;
extern int32_t* i32s;
extern uint8_t* u8s;
extern int8_t* i8s;
extern int16_t* i16s;
extern void* any;

static_assert(kWidth == 16);
static_assert(kRegisters >= 4);
static_assert(kByteBias == 0 || kByteBias == 128);
PLUMB_WORD(f32x16, load(static_cast<const float*>(f32s)));
PLUMB_WORD(void, store(f32s, f));
PLUMB_WORD(f32x16, splat(0.0f));
PLUMB_WORD(f32x16, add(f, f));
PLUMB_WORD(f32x16, sub(f, f));
PLUMB_WORD(f32x16, mul(f, f));
PLUMB_WORD(f32x16, div(f, f));
PLUMB_WORD(f32x16, max(f, f));
PLUMB_WORD(float, sqrt(0.0f));
PLUMB_WORD(i32x16, bits(f));
PLUMB_WORD(f32x16, from_bits(i));
PLUMB_WORD(f32x16, to_f32(i));
PLUMB_WORD(f32x16, from_f16(any));
PLUMB_WORD(f32x16, from_bf16(any));
PLUMB_WORD(void, store_f16(any, f));
PLUMB_WORD(i32x16, load(static_cast<const int32_t*>(i32s)));
PLUMB_WORD(void, store(i32s, i));
PLUMB_WORD(i32x16, from_u8(u8s));
PLUMB_WORD(i32x16, from_i8(u8s));
PLUMB_WORD(void, store_i8(i8s, i));
PLUMB_WORD(i32x16, splat(int32_t{0}));
PLUMB_WORD(i32x16, add(i, i));
PLUMB_WORD(i32x16, sub(i, i));
PLUMB_WORD(i32x16, bit_and(i, i));
PLUMB_WORD(i32x16, bit_or(i, i));
PLUMB_WORD(i32x16, shift_left(i, 0));
PLUMB_WORD(i32x16, shift_right(i, 0));
PLUMB_WORD(i32x16, greater(i, i));
PLUMB_WORD(i32x16, greater(f, f));
PLUMB_WORD(f32x16, select(i, f, f));
PLUMB_WORD(uint32_t, mask_bits(i));
PLUMB_WORD(float, fold_add(f));
PLUMB_WORD(float, fold_max(f));
PLUMB_WORD(int32_t, fold_add(i));
PLUMB_WORD(i16x32, load_pairs(any));
PLUMB_WORD(void, store_pairs(any, p));
PLUMB_WORD(i16x32, pairs_u8(u8s));
PLUMB_WORD(i16x32, pairs_i8(u8s));
PLUMB_WORD(i16x32, pair(i, i));
PLUMB_WORD(i32x16, evens(p));
PLUMB_WORD(i32x16, odds(p));
PLUMB_WORD(i16x32, evens_twice(p));
PLUMB_WORD(i16x32, odds_twice(p));
PLUMB_WORD(i16x32, bit_and(p, 0));
PLUMB_WORD(i16x32, shift_right(p, 0));
PLUMB_WORD(i16x32, splat_pair(i16s));
PLUMB_WORD(i32x16, dot_pairs(p, p));
PLUMB_WORD(quads, load_quads(u8s));
PLUMB_WORD(void, store_quads(u8s, w));
PLUMB_WORD(quads, field(w, 0, 0));
PLUMB_WORD(quads, bit_or(w, w));
PLUMB_WORD(quads, add(w, 0));
PLUMB_WORD(quads, mul(w, i));
PLUMB_WORD(i32x16, byte_u8(w, 0));
PLUMB_WORD(i32x16, byte_i8(w, 0));
PLUMB_WORD(quad, splat_quad(i8s));
PLUMB_WORD(chain, start_chain());
PLUMB_WORD(chain, extend(c, w, a));
PLUMB_WORD(i32x16, finish(c));
PLUMB_WORD(i32x16, finish(c, p));
PLUMB_WORD(i32x16, add_dot(i, w, a));
static_assert(kGives<const bool, decltype(kByteDots)>);
static_assert(chain_length(2) >= 4 && chain_length(3) >= 4 && chain_length(4) >= 1 &&
              chain_length(5) >= 1 && chain_length(6) >= 1);
}  // namespace contract
#undef PLUMB_WORD

}  // namespace plumbline::cpu::PLUMB_CPU_VARIANT::simd
