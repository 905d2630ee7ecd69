// scalar.h: the vocabulary as plain loops. What a word means is defined here; the other files must
// agree.
#pragma once

#include <cstdint>
#include <cstring>

#define PLUMB_INLINE inline __attribute__((always_inline))
// The loops stay loops. Each word is a loop of its own here: repeated by 8 groups, 4 rows and 10
// formats, they took minutes to compile, and the code was slower for many rows.
#define PLUMB_UNROLL(n)

namespace plumbline::cpu::PLUMB_CPU_VARIANT::simd {

inline constexpr int kWidth = 16;
/// How many values of 16 lanes the registers hold: the size of a kernel's tiles. Any number >= 4.
inline constexpr int kRegisters = 8;
/// add_dot is one instruction, so that chains are not worth their while.
inline constexpr bool kByteDots = false;
/// What the codes of add_dot have on top: 128 makes signed bytes unsigned.
inline constexpr int kByteBias = 0;

struct f32x16 {
  float v[kWidth];
};
struct i32x16 {
  int32_t v[kWidth];
};
struct i16x32 {
  int16_t v[2 * kWidth];
};  // 16 lanes of a pair
struct quads {
  uint8_t v[4 * kWidth];
};  // 16 lanes of four bytes
struct quad {
  int8_t v[4];
};  // four bytes that every lane sees
struct chain {
  int32_t v[kWidth];
};  // an unfinished dot product of each lane

template <typename Out, typename Body>
PLUMB_INLINE Out each_lane(Body body) {
  Out out;
  for (int i = 0; i < kWidth; ++i) out.v[i] = body(i);
  return out;
}
template <typename T>
PLUMB_INLINE T load_as(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// f32. Every operation rounds once, to nearest even.
PLUMB_INLINE f32x16 load(const float* from) {
  return load_as<f32x16>(from);
}
PLUMB_INLINE void store(float* to, f32x16 x) {
  std::memcpy(to, &x, sizeof x);
}
PLUMB_INLINE f32x16 splat(float x) {
  return each_lane<f32x16>([&](int) { return x; });
}
PLUMB_INLINE f32x16 add(f32x16 a, f32x16 b) {
  return each_lane<f32x16>([&](int i) { return a.v[i] + b.v[i]; });
}
PLUMB_INLINE f32x16 sub(f32x16 a, f32x16 b) {
  return each_lane<f32x16>([&](int i) { return a.v[i] - b.v[i]; });
}
PLUMB_INLINE f32x16 mul(f32x16 a, f32x16 b) {
  return each_lane<f32x16>([&](int i) { return a.v[i] * b.v[i]; });
}
PLUMB_INLINE f32x16 div(f32x16 a, f32x16 b) {
  return each_lane<f32x16>([&](int i) { return a.v[i] / b.v[i]; });
}
/// a > b ? a : b, so b if one is NaN.
PLUMB_INLINE f32x16 max(f32x16 a, f32x16 b) {
  return each_lane<f32x16>([&](int i) { return a.v[i] > b.v[i] ? a.v[i] : b.v[i]; });
}
PLUMB_INLINE float sqrt(float x) {
  return __builtin_sqrtf(x);
}
PLUMB_INLINE i32x16 bits(f32x16 x) {
  return load_as<i32x16>(&x);
}
PLUMB_INLINE f32x16 from_bits(i32x16 x) {
  return load_as<f32x16>(&x);
}
PLUMB_INLINE f32x16 to_f32(i32x16 x) {
  return each_lane<f32x16>([&](int i) { return static_cast<float>(x.v[i]); });
}
/// 16 binary16 numbers, exactly, subnormals and infinities included.
PLUMB_INLINE f32x16 from_f16(const void* from) {
  return each_lane<f32x16>([&](int i) {
    const uint32_t half = load_as<uint16_t>(static_cast<const uint8_t*>(from) + 2 * i);
    const uint32_t sign = (half & 0x8000u) << 16;
    const uint32_t magnitude = half & 0x7fffu;
    if (magnitude < 0x0400u) {  // zero or subnormal: magnitude * 2^-24
      const float value = static_cast<float>(magnitude) * 0x1p-24f;
      return sign != 0 ? -value : value;
    }
    const uint32_t exponent = magnitude >= 0x7c00u ? 0x70000000u : 0x38000000u;
    const uint32_t word = sign | ((magnitude << 13) + exponent);
    return load_as<float>(&word);
  });
}
/// 16 bfloat16 numbers.
PLUMB_INLINE f32x16 from_bf16(const void* from) {
  return each_lane<f32x16>([&](int i) {
    const uint32_t word =
        static_cast<uint32_t>(load_as<uint16_t>(static_cast<const uint8_t*>(from) + 2 * i)) << 16;
    return load_as<float>(&word);
  });
}

/// 16 numbers rounded to binary16, to nearest even, subnormals and overflow to infinity included.
PLUMB_INLINE void store_f16(void* to, f32x16 x) {
  for (int i = 0; i < kWidth; ++i) {
    const uint32_t word = load_as<uint32_t>(&x.v[i]);
    const uint32_t sign = (word >> 16) & 0x8000u;
    const uint32_t magnitude = word & 0x7fffffffu;
    uint32_t half = 0;
    if (magnitude > 0x7f800000u) {
      half = 0x7e00u;  // NaN
    } else if (magnitude < 0x38800000u) {
      // Below 2^-14: adding 0.5 leaves the multiple of 2^-24 in the low bits, rounded by the sum.
      const float shifted = load_as<float>(&magnitude) + 0.5f;
      half = load_as<uint32_t>(&shifted) - 0x3f000000u;
    } else {
      const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
      half = rounded >= 0x47800000u ? 0x7c00u : (rounded - 0x38000000u) >> 13;
    }
    const auto out = static_cast<uint16_t>(sign | half);
    std::memcpy(static_cast<uint8_t*>(to) + 2 * i, &out, sizeof out);
  }
}

// i32. Sums wrap.
PLUMB_INLINE int32_t wrap(uint32_t x) {
  return static_cast<int32_t>(x);
}
PLUMB_INLINE i32x16 load(const int32_t* from) {
  return load_as<i32x16>(from);
}
PLUMB_INLINE void store(int32_t* to, i32x16 x) {
  std::memcpy(to, &x, sizeof x);
}
PLUMB_INLINE i32x16 from_u8(const uint8_t* from) {
  return each_lane<i32x16>([&](int i) { return static_cast<int32_t>(from[i]); });
}
PLUMB_INLINE i32x16 from_i8(const uint8_t* from) {
  return each_lane<i32x16>(
      [&](int i) { return static_cast<int32_t>(static_cast<int8_t>(from[i])); });
}
/// Lanes must be in -128..127.
PLUMB_INLINE void store_i8(int8_t* to, i32x16 x) {
  for (int i = 0; i < kWidth; ++i) to[i] = static_cast<int8_t>(x.v[i]);
}
PLUMB_INLINE i32x16 splat(int32_t x) {
  return each_lane<i32x16>([&](int) { return x; });
}
PLUMB_INLINE i32x16 add(i32x16 a, i32x16 b) {
  return each_lane<i32x16>(
      [&](int i) { return wrap(static_cast<uint32_t>(a.v[i]) + static_cast<uint32_t>(b.v[i])); });
}
PLUMB_INLINE i32x16 sub(i32x16 a, i32x16 b) {
  return each_lane<i32x16>(
      [&](int i) { return wrap(static_cast<uint32_t>(a.v[i]) - static_cast<uint32_t>(b.v[i])); });
}
PLUMB_INLINE i32x16 bit_and(i32x16 a, i32x16 b) {
  return each_lane<i32x16>([&](int i) { return a.v[i] & b.v[i]; });
}
PLUMB_INLINE i32x16 bit_or(i32x16 a, i32x16 b) {
  return each_lane<i32x16>([&](int i) { return a.v[i] | b.v[i]; });
}
PLUMB_INLINE i32x16 shift_left(i32x16 x, int n) {
  return each_lane<i32x16>([&](int i) { return wrap(static_cast<uint32_t>(x.v[i]) << n); });
}
/// Copies the sign bit down.
PLUMB_INLINE i32x16 shift_right(i32x16 x, int n) {
  return each_lane<i32x16>([&](int i) { return x.v[i] >> n; });
}
/// All ones where a > b, else zero.
PLUMB_INLINE i32x16 greater(i32x16 a, i32x16 b) {
  return each_lane<i32x16>([&](int i) { return a.v[i] > b.v[i] ? -1 : 0; });
}
PLUMB_INLINE i32x16 greater(f32x16 a, f32x16 b) {
  return each_lane<i32x16>([&](int i) { return a.v[i] > b.v[i] ? -1 : 0; });
}
/// mask ? a : b; each lane of the mask is all ones or zero.
PLUMB_INLINE f32x16 select(i32x16 mask, f32x16 a, f32x16 b) {
  return each_lane<f32x16>([&](int i) { return mask.v[i] != 0 ? a.v[i] : b.v[i]; });
}
// 16 lanes folded by halves: 8, 4, 2, 1.
template <typename T, typename Join>
PLUMB_INLINE T fold(const T (&lanes)[kWidth], Join join) {
  T p[kWidth];
  std::memcpy(p, lanes, sizeof p);
  for (int half = kWidth / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) p[i] = join(p[i], p[i + half]);
  }
  return p[0];
}
PLUMB_INLINE float fold_add(f32x16 x) {
  return fold(x.v, [](float a, float b) { return a + b; });
}
/// No lane may be NaN.
PLUMB_INLINE float fold_max(f32x16 x) {
  return fold(x.v, [](float a, float b) { return a > b ? a : b; });
}
PLUMB_INLINE int32_t fold_add(i32x16 x) {
  return fold(x.v, [](int32_t a, int32_t b) {
    return wrap(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
  });
}
/// Bit i: lane i of the mask.
PLUMB_INLINE uint32_t mask_bits(i32x16 mask) {
  uint32_t out = 0;
  for (int i = 0; i < kWidth; ++i) out |= (mask.v[i] != 0 ? 1u : 0u) << i;
  return out;
}

// Pairs of i16.
PLUMB_INLINE i16x32 load_pairs(const void* from) {
  return load_as<i16x32>(from);
}
PLUMB_INLINE void store_pairs(void* to, i16x32 x) {
  std::memcpy(to, &x, sizeof x);
}
/// 32 bytes as they lie.
PLUMB_INLINE i16x32 pairs_u8(const uint8_t* from) {
  i16x32 out;
  for (int i = 0; i < 2 * kWidth; ++i) out.v[i] = from[i];
  return out;
}
PLUMB_INLINE i16x32 pairs_i8(const uint8_t* from) {
  i16x32 out;
  for (int i = 0; i < 2 * kWidth; ++i) out.v[i] = static_cast<int8_t>(from[i]);
  return out;
}
/// (even[i], odd[i]); lanes must fit in i16.
PLUMB_INLINE i16x32 pair(i32x16 even, i32x16 odd) {
  i16x32 out;
  for (int i = 0; i < kWidth; ++i) {
    out.v[2 * i] = static_cast<int16_t>(even.v[i]);
    out.v[2 * i + 1] = static_cast<int16_t>(odd.v[i]);
  }
  return out;
}
PLUMB_INLINE i32x16 evens(i16x32 x) {
  return each_lane<i32x16>([&](int i) { return int32_t{x.v[2 * i]}; });
}
PLUMB_INLINE i32x16 odds(i16x32 x) {
  return each_lane<i32x16>([&](int i) { return int32_t{x.v[2 * i + 1]}; });
}
PLUMB_INLINE i16x32 evens_twice(i16x32 x) {
  return pair(evens(x), evens(x));
}
PLUMB_INLINE i16x32 odds_twice(i16x32 x) {
  return pair(odds(x), odds(x));
}
PLUMB_INLINE i16x32 bit_and(i16x32 x, int mask) {
  for (int i = 0; i < 2 * kWidth; ++i) x.v[i] = static_cast<int16_t>(x.v[i] & mask);
  return x;
}
PLUMB_INLINE i16x32 shift_right(i16x32 x, int n) {
  for (int i = 0; i < 2 * kWidth; ++i) x.v[i] = static_cast<int16_t>(x.v[i] >> n);
  return x;
}
PLUMB_INLINE i16x32 splat_pair(const int16_t* from) {
  i16x32 out;
  for (int i = 0; i < 2 * kWidth; ++i) out.v[i] = from[i % 2];
  return out;
}
/// a[2i] * b[2i] + a[2i+1] * b[2i+1]
PLUMB_INLINE i32x16 dot_pairs(i16x32 a, i16x32 b) {
  return each_lane<i32x16>(
      [&](int i) { return a.v[2 * i] * b.v[2 * i] + a.v[2 * i + 1] * b.v[2 * i + 1]; });
}

// Codes.
PLUMB_INLINE quads load_quads(const uint8_t* from) {
  return load_as<quads>(from);
}
PLUMB_INLINE void store_quads(uint8_t* to, quads x) {
  std::memcpy(to, &x, sizeof x);
}
/// Each byte (x >> shift) & mask, or (x << -shift) & mask; mask keeps no bit that came from outside
/// the byte.
PLUMB_INLINE quads field(quads x, int shift, int mask) {
  quads out;
  for (int i = 0; i < 4 * kWidth; ++i) {
    out.v[i] = static_cast<uint8_t>((shift >= 0 ? x.v[i] >> shift : x.v[i] << -shift) & mask);
  }
  return out;
}
PLUMB_INLINE quads bit_or(quads a, quads b) {
  quads out;
  for (int i = 0; i < 4 * kWidth; ++i) out.v[i] = static_cast<uint8_t>(a.v[i] | b.v[i]);
  return out;
}
/// Each byte plus a number, and each lane's bytes times the lane's number; both wrap.
PLUMB_INLINE quads add(quads x, int each) {
  for (int i = 0; i < 4 * kWidth; ++i) x.v[i] = static_cast<uint8_t>(x.v[i] + each);
  return x;
}
PLUMB_INLINE quads mul(quads x, i32x16 scale) {
  for (int i = 0; i < 4 * kWidth; ++i) x.v[i] = static_cast<uint8_t>(x.v[i] * scale.v[i / 4]);
  return x;
}
/// Byte j of each lane, j in 0..3.
PLUMB_INLINE i32x16 byte_u8(quads x, int j) {
  return each_lane<i32x16>([&](int i) { return static_cast<int32_t>(x.v[4 * i + j]); });
}
PLUMB_INLINE i32x16 byte_i8(quads x, int j) {
  return each_lane<i32x16>(
      [&](int i) { return static_cast<int32_t>(static_cast<int8_t>(x.v[4 * i + j])); });
}

// Dot products of four values: codes of each lane with one quad of activations (-127..127).
PLUMB_INLINE quad splat_quad(const int8_t* from) {
  return load_as<quad>(from);
}
PLUMB_INLINE chain start_chain() {
  return {};
}
/// How many quads of codes of so many bits one chain can take without overflow. Here and for any
/// ISA >= 1.
constexpr int chain_length(int code_bits) {
  return code_bits < 8 ? 8 : 0;
}
/// Codes are unsigned.
PLUMB_INLINE chain extend(chain sum, quads w, quad a) {
  for (int i = 0; i < kWidth; ++i) {
    for (int j = 0; j < 4; ++j) sum.v[i] += w.v[4 * i + j] * a.v[j];
  }
  return sum;
}
PLUMB_INLINE i32x16 finish(chain sum) {
  return load_as<i32x16>(&sum);
}
/// The sum times the lane's scale, which is the same in both halves of its pair.
PLUMB_INLINE i32x16 finish(chain sum, i16x32 scale) {
  return each_lane<i32x16>([&](int i) { return sum.v[i] * scale.v[2 * i]; });
}
/// sum + the dot product with codes of eight bits: unsigned with a kByteBias, else signed.
PLUMB_INLINE i32x16 add_dot(i32x16 sum, quads w, quad a) {
  for (int i = 0; i < kWidth; ++i) {
    for (int j = 0; j < 4; ++j) sum.v[i] += static_cast<int8_t>(w.v[4 * i + j]) * a.v[j];
  }
  return sum;
}

}  // namespace plumbline::cpu::PLUMB_CPU_VARIANT::simd
