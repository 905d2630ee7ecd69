// half.h: IEEE binary16 and bfloat16 bit patterns <-> f32, by integer arithmetic alone: the same on
// every machine.
#pragma once

#include <bit>
#include <cstdint>

namespace plumbline {

namespace detail {

/// value / 2^shift, to the nearest, ties to even; shift in 1..31 and value < 2^31.
constexpr uint32_t shift_round_half_even(uint32_t value, uint32_t shift) {
  const uint32_t below_half = (1u << (shift - 1)) - 1;
  return (value + below_half + ((value >> shift) & 1u)) >> shift;
}

}  // namespace detail

/// The f32 of a binary16 bit pattern. Exact; a NaN keeps its sign and payload.
constexpr float f16_to_f32(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 0x1fu;
  const uint32_t fraction = half & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + (127 - 15)) << 23) | (fraction << 13));
}

/// The binary16 bit pattern nearest to x, ties to even. Too large becomes infinity, a NaN a quiet
/// NaN.
constexpr uint16_t f32_to_f16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  constexpr uint32_t kInfinity = 0x7f800000u;
  constexpr uint32_t kTooLarge = 0x477ff000u;  // 65520, halfway from the largest finite to 2^16
  constexpr uint32_t kSmallestNormal = 0x38800000u;  // 2^-14
  constexpr uint32_t kHalfOfSmallest = 0x33000000u;  // 2^-25: a tie with zero, which is even

  uint32_t half = 0;
  if (magnitude > kInfinity) {
    half = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  } else if (magnitude >= kTooLarge) {
    half = 0x7c00u;
  } else if (magnitude >= kSmallestNormal) {
    half = detail::shift_round_half_even(magnitude - ((127u - 15u) << 23), 13);
  } else if (magnitude > kHalfOfSmallest) {
    const uint32_t significand = (magnitude & 0x7fffffu) | 0x800000u;
    half =
        detail::shift_round_half_even(significand, 126 - (magnitude >> 23));  // in units of 2^-24
  }
  return static_cast<uint16_t>(sign | half);
}

/// The f32 of a bfloat16 bit pattern. Exact.
constexpr float bf16_to_f32(uint16_t brain) {
  return std::bit_cast<float>(static_cast<uint32_t>(brain) << 16);
}

/// The bfloat16 bit pattern nearest to x, ties to even. A NaN becomes a quiet NaN.
constexpr uint16_t f32_to_bf16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  const uint32_t brain = magnitude > 0x7f800000u ? (magnitude >> 16) | 0x40u
                                                 : detail::shift_round_half_even(magnitude, 16);
  return static_cast<uint16_t>(sign | brain);
}

}  // namespace plumbline
