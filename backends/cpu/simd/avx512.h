// avx512.h: the vocabulary in AVX-512 F, BW, DQ and VL, which Skylake-X has, and with VNNI where
// the compiler may use it. scalar.h says what each word means.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "backends/cpu/simd/registers.h"

#if !defined(__AVX512F__) || !defined(__AVX512BW__) || !defined(__AVX512DQ__) || \
    !defined(__AVX512VL__)
#error "build with -mavx512f -mavx512bw -mavx512dq -mavx512vl"
#endif

namespace plumbline::cpu::PLUMB_CPU_VARIANT::simd {

inline constexpr int kRegisters = 32;  // that hold 16 lanes

struct f32x16 {
  __m512 v;
};
struct i32x16 {
  __m512i v;
};
struct i16x32 {
  __m512i v;
};
struct quads {
  __m512i v;
};
struct quad {
  __m512i v;
};

PLUMB_INLINE __m256i load256(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
PLUMB_INLINE __m128i load128(const void* from) {
  return _mm_loadu_si128(static_cast<const __m128i*>(from));
}

// f32
PLUMB_INLINE f32x16 load(const float* from) {
  return {_mm512_loadu_ps(from)};
}
PLUMB_INLINE void store(float* to, f32x16 x) {
  _mm512_storeu_ps(to, x.v);
}
PLUMB_INLINE f32x16 splat(float x) {
  return {_mm512_set1_ps(x)};
}
PLUMB_INLINE f32x16 add(f32x16 a, f32x16 b) {
  return {_mm512_add_ps(a.v, b.v)};
}
PLUMB_INLINE f32x16 sub(f32x16 a, f32x16 b) {
  return {_mm512_sub_ps(a.v, b.v)};
}
PLUMB_INLINE f32x16 mul(f32x16 a, f32x16 b) {
  return {_mm512_mul_ps(a.v, b.v)};
}
PLUMB_INLINE f32x16 div(f32x16 a, f32x16 b) {
  return {_mm512_div_ps(a.v, b.v)};
}
PLUMB_INLINE f32x16 max(f32x16 a, f32x16 b) {
  return {_mm512_max_ps(a.v, b.v)};
}
PLUMB_INLINE float sqrt(float x) {
  return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x)));
}
PLUMB_INLINE i32x16 bits(f32x16 x) {
  return {_mm512_castps_si512(x.v)};
}
PLUMB_INLINE f32x16 from_bits(i32x16 x) {
  return {_mm512_castsi512_ps(x.v)};
}
PLUMB_INLINE f32x16 to_f32(i32x16 x) {
  return {_mm512_cvtepi32_ps(x.v)};
}
PLUMB_INLINE f32x16 from_f16(const void* from) {
  return {_mm512_cvtph_ps(load256(from))};
}
PLUMB_INLINE f32x16 from_bf16(const void* from) {
  return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(load256(from)), 16))};
}
PLUMB_INLINE void store_f16(void* to, f32x16 x) {
  _mm256_storeu_si256(static_cast<__m256i*>(to), _mm512_cvtps_ph(x.v, _MM_FROUND_TO_NEAREST_INT));
}

// i32
PLUMB_INLINE i32x16 load(const int32_t* from) {
  return {_mm512_loadu_si512(from)};
}
PLUMB_INLINE void store(int32_t* to, i32x16 x) {
  _mm512_storeu_si512(to, x.v);
}
PLUMB_INLINE i32x16 from_u8(const uint8_t* from) {
  return {_mm512_cvtepu8_epi32(load128(from))};
}
PLUMB_INLINE i32x16 from_i8(const uint8_t* from) {
  return {_mm512_cvtepi8_epi32(load128(from))};
}
PLUMB_INLINE void store_i8(int8_t* to, i32x16 x) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(x.v));
}
PLUMB_INLINE i32x16 splat(int32_t x) {
  return {_mm512_set1_epi32(x)};
}
PLUMB_INLINE i32x16 add(i32x16 a, i32x16 b) {
  return {_mm512_add_epi32(a.v, b.v)};
}
PLUMB_INLINE i32x16 sub(i32x16 a, i32x16 b) {
  return {_mm512_sub_epi32(a.v, b.v)};
}
PLUMB_INLINE i32x16 bit_and(i32x16 a, i32x16 b) {
  return {_mm512_and_si512(a.v, b.v)};
}
PLUMB_INLINE i32x16 bit_or(i32x16 a, i32x16 b) {
  return {_mm512_or_si512(a.v, b.v)};
}
PLUMB_INLINE i32x16 shift_left(i32x16 x, int n) {
  return {_mm512_slli_epi32(x.v, static_cast<unsigned>(n))};
}
PLUMB_INLINE i32x16 shift_right(i32x16 x, int n) {
  return {_mm512_srai_epi32(x.v, static_cast<unsigned>(n))};
}
PLUMB_INLINE i32x16 greater(i32x16 a, i32x16 b) {
  return {_mm512_movm_epi32(_mm512_cmpgt_epi32_mask(a.v, b.v))};
}
PLUMB_INLINE i32x16 greater(f32x16 a, f32x16 b) {
  return {_mm512_movm_epi32(_mm512_cmp_ps_mask(a.v, b.v, _CMP_GT_OQ))};
}
PLUMB_INLINE f32x16 select(i32x16 mask, f32x16 a, f32x16 b) {
  return {_mm512_mask_blend_ps(_mm512_movepi32_mask(mask.v), b.v, a.v)};
}
PLUMB_INLINE uint32_t mask_bits(i32x16 mask) {
  return _mm512_movepi32_mask(mask.v);
}
PLUMB_INLINE float fold_add(f32x16 x) {
  const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(x.v), _mm512_extractf32x8_ps(x.v, 1));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
PLUMB_INLINE float fold_max(f32x16 x) {
  return _mm512_reduce_max_ps(x.v);
}
PLUMB_INLINE int32_t fold_add(i32x16 x) {
  return _mm512_reduce_add_epi32(x.v);
}

// Pairs of i16
PLUMB_INLINE i16x32 load_pairs(const void* from) {
  return {_mm512_loadu_si512(from)};
}
PLUMB_INLINE void store_pairs(void* to, i16x32 x) {
  _mm512_storeu_si512(to, x.v);
}
PLUMB_INLINE i16x32 pairs_u8(const uint8_t* from) {
  return {_mm512_cvtepu8_epi16(load256(from))};
}
PLUMB_INLINE i16x32 pairs_i8(const uint8_t* from) {
  return {_mm512_cvtepi8_epi16(load256(from))};
}
PLUMB_INLINE i16x32 pair(i32x16 even, i32x16 odd) {
  return {_mm512_mask_blend_epi16(0xaaaaaaaau, even.v, _mm512_slli_epi32(odd.v, 16))};
}
PLUMB_INLINE i32x16 evens(i16x32 x) {
  return {_mm512_srai_epi32(_mm512_slli_epi32(x.v, 16), 16)};
}
PLUMB_INLINE i32x16 odds(i16x32 x) {
  return {_mm512_srai_epi32(x.v, 16)};
}
PLUMB_INLINE i16x32 evens_twice(i16x32 x) {
  return {_mm512_mask_blend_epi16(0xaaaaaaaau, x.v, _mm512_slli_epi32(x.v, 16))};
}
PLUMB_INLINE i16x32 odds_twice(i16x32 x) {
  return {_mm512_mask_blend_epi16(0xaaaaaaaau, _mm512_srli_epi32(x.v, 16), x.v)};
}
PLUMB_INLINE i16x32 bit_and(i16x32 x, int mask) {
  return {_mm512_and_si512(x.v, _mm512_set1_epi16(static_cast<short>(mask)))};
}
PLUMB_INLINE i16x32 shift_right(i16x32 x, int n) {
  return {_mm512_srai_epi16(x.v, static_cast<unsigned>(n))};
}
PLUMB_INLINE i16x32 splat_pair(const int16_t* from) {
  int32_t both;
  std::memcpy(&both, from, sizeof both);
  return {_mm512_set1_epi32(both)};
}
PLUMB_INLINE i32x16 dot_pairs(i16x32 a, i16x32 b) {
  return {_mm512_madd_epi16(a.v, b.v)};
}

// Codes
PLUMB_INLINE quads load_quads(const uint8_t* from) {
  return {_mm512_loadu_si512(from)};
}
PLUMB_INLINE void store_quads(uint8_t* to, quads x) {
  _mm512_storeu_si512(to, x.v);
}
PLUMB_INLINE quads field(quads x, int shift, int mask) {
  const __m512i keep = _mm512_set1_epi8(static_cast<char>(mask));
  if (shift > 0) x = {_mm512_srli_epi16(x.v, static_cast<unsigned>(shift))};
  if (shift < 0) x = {_mm512_slli_epi16(x.v, static_cast<unsigned>(-shift))};
  return {_mm512_and_si512(x.v, keep)};
}
PLUMB_INLINE quads bit_or(quads a, quads b) {
  return {_mm512_or_si512(a.v, b.v)};
}
PLUMB_INLINE quads add(quads x, int each) {
  return {_mm512_add_epi8(x.v, _mm512_set1_epi8(static_cast<char>(each)))};
}
PLUMB_INLINE quads mul(quads x, i32x16 scale) {
  const __m512i twice =
      _mm512_mask_blend_epi16(0xaaaaaaaau, scale.v, _mm512_slli_epi32(scale.v, 16));
  const __m512i even = _mm512_mullo_epi16(x.v, twice);
  const __m512i odd = _mm512_mullo_epi16(_mm512_srli_epi16(x.v, 8), twice);
  return {_mm512_mask_blend_epi8(0xaaaaaaaaaaaaaaaau, even, _mm512_slli_epi16(odd, 8))};
}
PLUMB_INLINE i32x16 byte_u8(quads x, int j) {
  const __m512i moved = _mm512_srli_epi32(x.v, static_cast<unsigned>(8 * j));
  return {_mm512_and_si512(moved, _mm512_set1_epi32(0xff))};
}
PLUMB_INLINE i32x16 byte_i8(quads x, int j) {
  return {_mm512_srai_epi32(_mm512_slli_epi32(x.v, static_cast<unsigned>(24 - 8 * j)), 24)};
}

// Dot products
PLUMB_INLINE quad splat_quad(const int8_t* from) {
  int32_t four;
  std::memcpy(&four, from, sizeof four);
  return {_mm512_set1_epi32(four)};
}

#if defined(__AVX512VNNI__)

inline constexpr bool kByteDots = true;
inline constexpr int kByteBias = 128;

PLUMB_INLINE i32x16 add_dot(i32x16 sum, quads w, quad a) {
  return {_mm512_dpbusd_epi32(sum.v, w.v, a.v)};
}

using chain = i32x16;
PLUMB_INLINE chain start_chain() {
  return {_mm512_setzero_si512()};
}
constexpr int chain_length(int) {
  return 8;
}
PLUMB_INLINE chain extend(chain sum, quads w, quad a) {
  return add_dot(sum, w, a);
}
PLUMB_INLINE i32x16 finish(chain sum) {
  return sum;
}
PLUMB_INLINE i32x16 finish(chain sum, i16x32 scale) {
  return {_mm512_mullo_epi32(sum.v, _mm512_srai_epi32(scale.v, 16))};
}

#else

inline constexpr bool kByteDots = false;
inline constexpr int kByteBias = 0;

struct chain {
  __m512i v;
};  // sums of two neighbouring products in i16

PLUMB_INLINE chain start_chain() {
  return {_mm512_setzero_si512()};
}
constexpr int chain_length(int code_bits) {
  return i16_chain_length(code_bits, 2);
}
PLUMB_INLINE chain extend(chain sum, quads w, quad a) {
  return {_mm512_add_epi16(sum.v, _mm512_maddubs_epi16(w.v, a.v))};
}
PLUMB_INLINE i32x16 finish(chain sum) {
  return {_mm512_madd_epi16(sum.v, _mm512_set1_epi16(1))};
}
PLUMB_INLINE i32x16 finish(chain sum, i16x32 scale) {
  return {_mm512_madd_epi16(sum.v, scale.v)};
}
/// |w| * (a with w's sign): at most 2 * 128 * 127 = 32512 in i16.
PLUMB_INLINE i32x16 add_dot(i32x16 sum, quads w, quad a) {
  const __m512i signed_a =
      _mm512_mask_sub_epi8(a.v, _mm512_movepi8_mask(w.v), _mm512_setzero_si512(), a.v);
  const __m512i products = _mm512_maddubs_epi16(_mm512_abs_epi8(w.v), signed_a);
  return {_mm512_add_epi32(sum.v, _mm512_madd_epi16(products, _mm512_set1_epi16(1)))};
}

#endif

}  // namespace plumbline::cpu::PLUMB_CPU_VARIANT::simd
