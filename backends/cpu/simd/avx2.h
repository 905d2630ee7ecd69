// avx2.h: the vocabulary in AVX2 and F16C; 16 lanes are two registers. No word
// fuses a product and a sum: core/doc/numerics.md. scalar.h says what each means.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "backends/cpu/simd/registers.h"

#if !defined(__AVX2__) || !defined(__F16C__)
#error "build with -mavx2 -mf16c"
#endif

namespace plumbline::cpu::PLUMB_CPU_VARIANT::simd {

inline constexpr int kRegisters = 8;  // that hold 16 lanes

struct f32x16 {
  __m256 lo, hi;
};
struct i32x16 {
  __m256i lo, hi;
};
struct i16x32 {
  __m256i lo, hi;
};
struct quads {
  __m256i lo, hi;
};
struct quad {
  __m256i v;
};

PLUMB_INLINE __m256i load256(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
PLUMB_INLINE void store256(void* to, __m256i x) {
  _mm256_storeu_si256(static_cast<__m256i*>(to), x);
}
PLUMB_INLINE const uint8_t* at(const void* from, int bytes) {
  return static_cast<const uint8_t*>(from) + bytes;
}
PLUMB_INLINE uint8_t* at(void* to, int bytes) {
  return static_cast<uint8_t*>(to) + bytes;
}

// f32
PLUMB_INLINE f32x16 load(const float* from) {
  return {_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8)};
}
PLUMB_INLINE void store(float* to, f32x16 x) {
  _mm256_storeu_ps(to, x.lo);
  _mm256_storeu_ps(to + 8, x.hi);
}
PLUMB_INLINE f32x16 splat(float x) {
  return {_mm256_set1_ps(x), _mm256_set1_ps(x)};
}
PLUMB_INLINE f32x16 add(f32x16 a, f32x16 b) {
  return {_mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi)};
}
PLUMB_INLINE f32x16 sub(f32x16 a, f32x16 b) {
  return {_mm256_sub_ps(a.lo, b.lo), _mm256_sub_ps(a.hi, b.hi)};
}
PLUMB_INLINE f32x16 mul(f32x16 a, f32x16 b) {
  return {_mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi)};
}
PLUMB_INLINE f32x16 div(f32x16 a, f32x16 b) {
  return {_mm256_div_ps(a.lo, b.lo), _mm256_div_ps(a.hi, b.hi)};
}
PLUMB_INLINE f32x16 max(f32x16 a, f32x16 b) {
  return {_mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi)};
}
PLUMB_INLINE float sqrt(float x) {
  return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x)));
}
PLUMB_INLINE i32x16 bits(f32x16 x) {
  return {_mm256_castps_si256(x.lo), _mm256_castps_si256(x.hi)};
}
PLUMB_INLINE f32x16 from_bits(i32x16 x) {
  return {_mm256_castsi256_ps(x.lo), _mm256_castsi256_ps(x.hi)};
}
PLUMB_INLINE f32x16 to_f32(i32x16 x) {
  return {_mm256_cvtepi32_ps(x.lo), _mm256_cvtepi32_ps(x.hi)};
}
PLUMB_INLINE __m128i load128(const void* from) {
  return _mm_loadu_si128(static_cast<const __m128i*>(from));
}
PLUMB_INLINE __m128i load64(const void* from) {
  return _mm_loadl_epi64(static_cast<const __m128i*>(from));
}
PLUMB_INLINE f32x16 from_f16(const void* from) {
  return {_mm256_cvtph_ps(load128(from)), _mm256_cvtph_ps(load128(at(from, 16)))};
}
PLUMB_INLINE f32x16 from_bf16(const void* from) {
  return {_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(load128(from)), 16)),
          _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(load128(at(from, 16))), 16))};
}

PLUMB_INLINE void store_f16(void* to, f32x16 x) {
  _mm_storeu_si128(static_cast<__m128i*>(to), _mm256_cvtps_ph(x.lo, _MM_FROUND_TO_NEAREST_INT));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(at(to, 16)),
                   _mm256_cvtps_ph(x.hi, _MM_FROUND_TO_NEAREST_INT));
}

// i32
PLUMB_INLINE i32x16 load(const int32_t* from) {
  return {load256(from), load256(from + 8)};
}
PLUMB_INLINE void store(int32_t* to, i32x16 x) {
  store256(to, x.lo);
  store256(to + 8, x.hi);
}
PLUMB_INLINE i32x16 from_u8(const uint8_t* from) {
  return {_mm256_cvtepu8_epi32(load64(from)), _mm256_cvtepu8_epi32(load64(from + 8))};
}
PLUMB_INLINE i32x16 from_i8(const uint8_t* from) {
  return {_mm256_cvtepi8_epi32(load64(from)), _mm256_cvtepi8_epi32(load64(from + 8))};
}
PLUMB_INLINE void store_i8(int8_t* to, i32x16 x) {
  const __m256i mixed = _mm256_packs_epi32(x.lo, x.hi);  // 0..3 8..11 | 4..7 12..15
  const __m256i words = _mm256_permute4x64_epi64(mixed, 0xd8);
  const __m128i bytes =
      _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
}
PLUMB_INLINE i32x16 splat(int32_t x) {
  return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)};
}
PLUMB_INLINE i32x16 add(i32x16 a, i32x16 b) {
  return {_mm256_add_epi32(a.lo, b.lo), _mm256_add_epi32(a.hi, b.hi)};
}
PLUMB_INLINE i32x16 sub(i32x16 a, i32x16 b) {
  return {_mm256_sub_epi32(a.lo, b.lo), _mm256_sub_epi32(a.hi, b.hi)};
}
PLUMB_INLINE i32x16 bit_and(i32x16 a, i32x16 b) {
  return {_mm256_and_si256(a.lo, b.lo), _mm256_and_si256(a.hi, b.hi)};
}
PLUMB_INLINE i32x16 bit_or(i32x16 a, i32x16 b) {
  return {_mm256_or_si256(a.lo, b.lo), _mm256_or_si256(a.hi, b.hi)};
}
PLUMB_INLINE i32x16 shift_left(i32x16 x, int n) {
  return {_mm256_slli_epi32(x.lo, n), _mm256_slli_epi32(x.hi, n)};
}
PLUMB_INLINE i32x16 shift_right(i32x16 x, int n) {
  return {_mm256_srai_epi32(x.lo, n), _mm256_srai_epi32(x.hi, n)};
}
PLUMB_INLINE i32x16 greater(i32x16 a, i32x16 b) {
  return {_mm256_cmpgt_epi32(a.lo, b.lo), _mm256_cmpgt_epi32(a.hi, b.hi)};
}
PLUMB_INLINE i32x16 greater(f32x16 a, f32x16 b) {
  return {_mm256_castps_si256(_mm256_cmp_ps(a.lo, b.lo, _CMP_GT_OQ)),
          _mm256_castps_si256(_mm256_cmp_ps(a.hi, b.hi, _CMP_GT_OQ))};
}
PLUMB_INLINE f32x16 select(i32x16 mask, f32x16 a, f32x16 b) {
  return {_mm256_blendv_ps(b.lo, a.lo, _mm256_castsi256_ps(mask.lo)),
          _mm256_blendv_ps(b.hi, a.hi, _mm256_castsi256_ps(mask.hi))};
}
PLUMB_INLINE uint32_t mask_bits(i32x16 mask) {
  return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(mask.lo))) |
         static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(mask.hi))) << 8;
}
PLUMB_INLINE float fold_add(f32x16 x) {
  const __m256 eight = _mm256_add_ps(x.lo, x.hi);
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
PLUMB_INLINE float fold_max(f32x16 x) {
  const __m256 eight = _mm256_max_ps(x.lo, x.hi);
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}
PLUMB_INLINE int32_t fold_add(i32x16 x) {
  const __m256i eight = _mm256_add_epi32(x.lo, x.hi);
  const __m128i four =
      _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
  const __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
}

// Pairs of i16
PLUMB_INLINE i16x32 load_pairs(const void* from) {
  return {load256(from), load256(at(from, 32))};
}
PLUMB_INLINE void store_pairs(void* to, i16x32 x) {
  store256(to, x.lo);
  store256(at(to, 32), x.hi);
}
PLUMB_INLINE i16x32 pairs_u8(const uint8_t* from) {
  return {_mm256_cvtepu8_epi16(load128(from)), _mm256_cvtepu8_epi16(load128(from + 16))};
}
PLUMB_INLINE i16x32 pairs_i8(const uint8_t* from) {
  return {_mm256_cvtepi8_epi16(load128(from)), _mm256_cvtepi8_epi16(load128(from + 16))};
}
PLUMB_INLINE i16x32 pair(i32x16 even, i32x16 odd) {
  return {_mm256_blend_epi16(even.lo, _mm256_slli_epi32(odd.lo, 16), 0xaa),
          _mm256_blend_epi16(even.hi, _mm256_slli_epi32(odd.hi, 16), 0xaa)};
}
PLUMB_INLINE i32x16 evens(i16x32 x) {
  return {_mm256_srai_epi32(_mm256_slli_epi32(x.lo, 16), 16),
          _mm256_srai_epi32(_mm256_slli_epi32(x.hi, 16), 16)};
}
PLUMB_INLINE i32x16 odds(i16x32 x) {
  return {_mm256_srai_epi32(x.lo, 16), _mm256_srai_epi32(x.hi, 16)};
}
PLUMB_INLINE i16x32 evens_twice(i16x32 x) {
  const __m256i order = _mm256_set_epi8(13, 12, 13, 12, 9, 8, 9, 8, 5, 4, 5, 4, 1, 0, 1, 0,  //
                                        13, 12, 13, 12, 9, 8, 9, 8, 5, 4, 5, 4, 1, 0, 1, 0);
  return {_mm256_shuffle_epi8(x.lo, order), _mm256_shuffle_epi8(x.hi, order)};
}
PLUMB_INLINE i16x32 odds_twice(i16x32 x) {
  const __m256i order = _mm256_set_epi8(15, 14, 15, 14, 11, 10, 11, 10, 7, 6, 7, 6, 3, 2, 3, 2,  //
                                        15, 14, 15, 14, 11, 10, 11, 10, 7, 6, 7, 6, 3, 2, 3, 2);
  return {_mm256_shuffle_epi8(x.lo, order), _mm256_shuffle_epi8(x.hi, order)};
}
PLUMB_INLINE i16x32 bit_and(i16x32 x, int mask) {
  const __m256i keep = _mm256_set1_epi16(static_cast<short>(mask));
  return {_mm256_and_si256(x.lo, keep), _mm256_and_si256(x.hi, keep)};
}
PLUMB_INLINE i16x32 shift_right(i16x32 x, int n) {
  return {_mm256_srai_epi16(x.lo, n), _mm256_srai_epi16(x.hi, n)};
}
PLUMB_INLINE i16x32 splat_pair(const int16_t* from) {
  int32_t both;
  std::memcpy(&both, from, sizeof both);
  return {_mm256_set1_epi32(both), _mm256_set1_epi32(both)};
}
PLUMB_INLINE i32x16 dot_pairs(i16x32 a, i16x32 b) {
  return {_mm256_madd_epi16(a.lo, b.lo), _mm256_madd_epi16(a.hi, b.hi)};
}

// Codes
PLUMB_INLINE quads load_quads(const uint8_t* from) {
  return {load256(from), load256(from + 32)};
}
PLUMB_INLINE void store_quads(uint8_t* to, quads x) {
  store256(to, x.lo);
  store256(to + 32, x.hi);
}
PLUMB_INLINE quads field(quads x, int shift, int mask) {
  const __m256i keep = _mm256_set1_epi8(static_cast<char>(mask));
  if (shift > 0) x = {_mm256_srli_epi16(x.lo, shift), _mm256_srli_epi16(x.hi, shift)};
  if (shift < 0) x = {_mm256_slli_epi16(x.lo, -shift), _mm256_slli_epi16(x.hi, -shift)};
  return {_mm256_and_si256(x.lo, keep), _mm256_and_si256(x.hi, keep)};
}
PLUMB_INLINE quads bit_or(quads a, quads b) {
  return {_mm256_or_si256(a.lo, b.lo), _mm256_or_si256(a.hi, b.hi)};
}
PLUMB_INLINE quads add(quads x, int each) {
  const __m256i n = _mm256_set1_epi8(static_cast<char>(each));
  return {_mm256_add_epi8(x.lo, n), _mm256_add_epi8(x.hi, n)};
}
PLUMB_INLINE __m256i mul_bytes(__m256i x, __m256i scale) {
  const __m256i twice = _mm256_blend_epi16(scale, _mm256_slli_epi32(scale, 16), 0xaa);
  const __m256i even = _mm256_mullo_epi16(x, twice);
  const __m256i odd = _mm256_mullo_epi16(_mm256_srli_epi16(x, 8), twice);
  return _mm256_blendv_epi8(even, _mm256_slli_epi16(odd, 8), _mm256_set1_epi16(-256));
}
PLUMB_INLINE quads mul(quads x, i32x16 scale) {
  return {mul_bytes(x.lo, scale.lo), mul_bytes(x.hi, scale.hi)};
}
PLUMB_INLINE i32x16 byte_u8(quads x, int j) {
  const __m256i keep = _mm256_set1_epi32(0xff);
  return {_mm256_and_si256(_mm256_srli_epi32(x.lo, 8 * j), keep),
          _mm256_and_si256(_mm256_srli_epi32(x.hi, 8 * j), keep)};
}
PLUMB_INLINE i32x16 byte_i8(quads x, int j) {
  return {_mm256_srai_epi32(_mm256_slli_epi32(x.lo, 24 - 8 * j), 24),
          _mm256_srai_epi32(_mm256_slli_epi32(x.hi, 24 - 8 * j), 24)};
}

// Dot products
PLUMB_INLINE quad splat_quad(const int8_t* from) {
  int32_t four;
  std::memcpy(&four, from, sizeof four);
  return {_mm256_set1_epi32(four)};
}

#if defined(__AVXVNNI__)

inline constexpr bool kByteDots = true;
inline constexpr int kByteBias = 128;

PLUMB_INLINE i32x16 add_dot(i32x16 sum, quads w, quad a) {
  return {_mm256_dpbusd_avx_epi32(sum.lo, w.lo, a.v), _mm256_dpbusd_avx_epi32(sum.hi, w.hi, a.v)};
}

using chain = i32x16;
PLUMB_INLINE chain start_chain() {
  return {_mm256_setzero_si256(), _mm256_setzero_si256()};
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
  return {_mm256_mullo_epi32(sum.lo, _mm256_srai_epi32(scale.lo, 16)),
          _mm256_mullo_epi32(sum.hi, _mm256_srai_epi32(scale.hi, 16))};
}

#else

inline constexpr bool kByteDots = false;
inline constexpr int kByteBias = 0;

/// |w| * (a with w's sign): at most 2 * 128 * 127 = 32512 in i16.
PLUMB_INLINE __m256i dot_i8(__m256i w, __m256i a) {
  const __m256i products = _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(a, w));
  return _mm256_madd_epi16(products, _mm256_set1_epi16(1));
}
PLUMB_INLINE i32x16 add_dot(i32x16 sum, quads w, quad a) {
  return {_mm256_add_epi32(sum.lo, dot_i8(w.lo, a.v)), _mm256_add_epi32(sum.hi, dot_i8(w.hi, a.v))};
}

struct chain {
  __m256i lo, hi;
};  // sums of two neighbouring products in i16

PLUMB_INLINE chain start_chain() {
  return {_mm256_setzero_si256(), _mm256_setzero_si256()};
}
constexpr int chain_length(int code_bits) {
  return i16_chain_length(code_bits, 2);
}
PLUMB_INLINE chain extend(chain sum, quads w, quad a) {
  return {_mm256_add_epi16(sum.lo, _mm256_maddubs_epi16(w.lo, a.v)),
          _mm256_add_epi16(sum.hi, _mm256_maddubs_epi16(w.hi, a.v))};
}
PLUMB_INLINE i32x16 finish(chain sum) {
  const __m256i ones = _mm256_set1_epi16(1);
  return {_mm256_madd_epi16(sum.lo, ones), _mm256_madd_epi16(sum.hi, ones)};
}
PLUMB_INLINE i32x16 finish(chain sum, i16x32 scale) {
  return {_mm256_madd_epi16(sum.lo, scale.lo), _mm256_madd_epi16(sum.hi, scale.hi)};
}

#endif

}  // namespace plumbline::cpu::PLUMB_CPU_VARIANT::simd
