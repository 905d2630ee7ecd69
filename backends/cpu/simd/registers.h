// registers.h: what every vocabulary that is made of registers starts from.
#pragma once

#define PLUMB_INLINE inline __attribute__((always_inline))
#define PLUMB_PRAGMA(text) _Pragma(#text)
// In front of a loop over registers: they stay registers only if no index is left.
#define PLUMB_UNROLL(n) PLUMB_PRAGMA(GCC unroll n)

namespace plumbline::cpu::PLUMB_CPU_VARIANT::simd {

inline constexpr int kWidth = 16;

/// chain_length where a chain is an i16 that takes `products` products of a code below 2^code_bits
/// with an activation for each quad: each is at most 127 * (2^code_bits - 1), and i16 holds 32767.
constexpr int i16_chain_length(int code_bits, int products) {
  const int quads = code_bits < 8 ? 32767 / (products * 127 * ((1 << code_bits) - 1)) : 0;
  return quads >= 8 ? 8 : quads >= 4 ? 4 : quads >= 2 ? 2 : quads;
}

}  // namespace plumbline::cpu::PLUMB_CPU_VARIANT::simd
