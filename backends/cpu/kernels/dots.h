// dots.h: the integer dot products of a block and the term that they give: what products with one
// and with many activation rows share.
#pragma once

#include "backends/cpu/kernels/outputs.h"
#include "backends/cpu/kernels/panel.h"

namespace plumbline::cpu::PLUMB_CPU_VARIANT {

enum class Minimum : uint8_t {
  kNone,
  kOne,  // m * (scale * sum)
  kHalves,  // -(m * scale) * (mn_0 * half_sum_0 + mn_1 * half_sum_1)
};

/// How the codes of a block enter a product: as unsigned codes of so many bits, of which offset is
/// taken away, or as bytes (bits = 8) plus kByteBias.
struct Form {
  uint32_t bits;
  int32_t offset;
  bool halves;  // two scales a block
  Minimum minimum;
};

/// Codes as they lie in a panel, except that signed ones get kByteBias.
constexpr Form form_of(const Layout& layout) {
  const Minimum minimum = layout.scales == Scales::kHalvesMin ? Minimum::kHalves
                          : layout.scales == Scales::kMinimum || layout.scales == Scales::kSuperMin
                              ? Minimum::kOne
                              : Minimum::kNone;
  return {layout.bits(), layout.is_signed() ? kByteBias : layout.offset, layout.halves(), minimum};
}

// The scales of a block as a product wants them.

template <Minimum>
struct MinimumScales {};
template <>
struct MinimumScales<Minimum::kOne> {
  f32x16 m;
};
template <>
struct MinimumScales<Minimum::kHalves> {
  f32x16 m;
  i16x32 minimum;  // (mn_0, mn_1)
};

/// How two integer sums and two scales become one number, exactly on any way (numerics.md, 3).
enum class Halves : uint8_t {
  kNone,
  kPairs,  // both sums fit in i16
  kFloats,
  kChains,  // each chain is finished with its scale
};
constexpr Halves halves_of(const Form& form) {
  if (!form.halves) return Halves::kNone;
  if (!kByteDots) return Halves::kChains;
  return form.bits <= 3 ? Halves::kPairs : Halves::kFloats;
}
template <Halves>
struct HalfScales {};
template <>
struct HalfScales<Halves::kPairs> {
  i16x32 scale;  // (sc_0, sc_1)
};
template <>
struct HalfScales<Halves::kFloats> {
  f32x16 scale[2];
};
template <>
struct HalfScales<Halves::kChains> {
  i16x32 scale;
  i16x32 twice[2];  // (sc_0, sc_0), (sc_1, sc_1)
};

template <Form F>
struct Scaling : MinimumScales<F.minimum>, HalfScales<halves_of(F)> {
  f32x16 d;
};

template <Form F, Scales S>
PLUMB_INLINE Scaling<F> scaling(const BlockScales<S>& s) {
  Scaling<F> out;
  out.d = s.d;
  if constexpr (F.minimum != Minimum::kNone) out.m = s.m;
  if constexpr (F.minimum == Minimum::kHalves) out.minimum = s.minimum;
  if constexpr (S == Scales::kSuperMin) out.m = sub(splat(0.0f), s.m);
  constexpr Halves kHalves = halves_of(F);
  if constexpr (kHalves == Halves::kPairs || kHalves == Halves::kChains) out.scale = s.scale;
  if constexpr (kHalves == Halves::kFloats) {
    out.scale[0] = to_f32(evens(s.scale));
    out.scale[1] = to_f32(odds(s.scale));
  }
  if constexpr (kHalves == Halves::kChains) {
    out.twice[0] = evens_twice(s.scale);
    out.twice[1] = odds_twice(s.scale);
  }
  return out;
}

/// N activation rows, or what is left of them from some block on.
template <int N>
struct Rows {
  const ActivationBlock* row[N];

  PLUMB_INLINE Rows(const MatmulArgs& args, uint64_t first) {
    const auto* blocks =
        reinterpret_cast<const ActivationBlock*>(static_cast<const uint8_t*>(args.in));
    for (int n = 0; n < N; ++n) {
      row[n] = blocks + (first + static_cast<uint64_t>(n)) * (args.n_in / kBlock);
    }
  }
};

/// -offset * the sum of 32 codes, or of 16.
template <int32_t kOffset>
PLUMB_INLINE i32x16 start_of(int32_t start) {
  if constexpr (kOffset == 0) return splat(int32_t{0});
  constexpr int kShift = 7 - __builtin_ctz(static_cast<unsigned>(kOffset == 0 ? 1 : kOffset));
  static_assert(kOffset == 0 || kOffset == 128 >> kShift);
  return kShift == 0 ? splat(start) : shift_right(splat(start), kShift);
}

/// out[p][n] = the dot product of panel p's codes, times their scales where halves have some, with
/// row n, as an exact f32. codes_of(p, group): quads of codes.
template <Form F, int P, int N, typename Codes>
PLUMB_INLINE void byte_dots(const Codes& codes_of, const Scaling<F>* const (&s)[P],
                            const Rows<N>& rows, uint64_t block, f32x16 (&out)[P][N]) {
  constexpr int kParts = F.halves ? 2 : 1;
  i32x16 sum[kParts][P][N];
  PLUMB_UNROLL(2)
  for (int part = 0; part < kParts; ++part) {
    PLUMB_UNROLL(8)
    for (int n = 0; n < N; ++n) {
      const ActivationBlock& a = rows.row[n][block];
      const i32x16 start = start_of<F.offset>(kParts == 2 ? a.half_start[part] : a.start);
      PLUMB_UNROLL(2)
      for (int p = 0; p < P; ++p) sum[part][p][n] = start;
    }
    PLUMB_UNROLL(8)
    for (int group = 8 / kParts * part; group < 8 / kParts * (part + 1); ++group) {
      quads w[P];
      PLUMB_UNROLL(2)
      for (int p = 0; p < P; ++p) w[p] = codes_of(p, group);
      PLUMB_UNROLL(8)
      for (int n = 0; n < N; ++n) {
        const quad a = splat_quad(rows.row[n][block].codes + 4 * group);
        PLUMB_UNROLL(2)
        for (int p = 0; p < P; ++p) sum[part][p][n] = add_dot(sum[part][p][n], w[p], a);
      }
    }
    if constexpr (halves_of(F) == Halves::kFloats) {
      PLUMB_UNROLL(8)
      for (int n = 0; n < N; ++n) {
        PLUMB_UNROLL(2)
        for (int p = 0; p < P; ++p) {
          const f32x16 scaled = mul(to_f32(sum[part][p][n]), s[p]->scale[part]);
          out[p][n] = part == 0 ? scaled : add(out[p][n], scaled);
        }
      }
    }
  }
  if constexpr (halves_of(F) != Halves::kFloats) {
    PLUMB_UNROLL(8)
    for (int n = 0; n < N; ++n) {
      PLUMB_UNROLL(2)
      for (int p = 0; p < P; ++p) {
        if constexpr (halves_of(F) == Halves::kPairs) {
          out[p][n] = to_f32(dot_pairs(s[p]->scale, pair(sum[0][p][n], sum[1][p][n])));
        } else {
          out[p][n] = to_f32(sum[0][p][n]);
        }
      }
    }
  }
}

/// The same where products of bytes are cheap only in short chains of i16. They are finished before
/// they could overflow.
template <Form F, int P, int N, typename Codes>
PLUMB_INLINE void chain_dots(const Codes& codes_of, const Scaling<F>* const (&s)[P],
                             const Rows<N>& rows, uint64_t block, f32x16 (&out)[P][N]) {
  i32x16 sum[P][N];
  PLUMB_UNROLL(8)
  for (int n = 0; n < N; ++n) {
    const ActivationBlock& a = rows.row[n][block];
    PLUMB_UNROLL(2)
    for (int p = 0; p < P; ++p) {
      if constexpr (F.halves && F.offset != 0) {
        constexpr int kShift = __builtin_ctz(static_cast<unsigned>(F.offset));
        const i32x16 offset = shift_left(dot_pairs(s[p]->scale, splat_pair(a.half_sum)), kShift);
        sum[p][n] = sub(splat(int32_t{0}), offset);
      } else {
        sum[p][n] = start_of<F.offset>(a.start);
      }
    }
  }
  constexpr int kLimit = chain_length(static_cast<int>(F.bits));
  constexpr int kLength = F.halves && kLimit > 4 ? 4 : kLimit;
  PLUMB_UNROLL(8)
  for (int start = 0; start < 8; start += kLength) {
    chain c[P][N];
    for (int p = 0; p < P; ++p) {
      for (int n = 0; n < N; ++n) c[p][n] = start_chain();
    }
    PLUMB_UNROLL(8)
    for (int group = start; group < start + kLength; ++group) {
      quads w[P];
      PLUMB_UNROLL(2)
      for (int p = 0; p < P; ++p) w[p] = codes_of(p, group);
      PLUMB_UNROLL(8)
      for (int n = 0; n < N; ++n) {
        const quad a = splat_quad(rows.row[n][block].codes + 4 * group);
        PLUMB_UNROLL(2)
        for (int p = 0; p < P; ++p) c[p][n] = extend(c[p][n], w[p], a);
      }
    }
    PLUMB_UNROLL(8)
    for (int n = 0; n < N; ++n) {
      PLUMB_UNROLL(2)
      for (int p = 0; p < P; ++p) {
        if constexpr (F.halves) {
          sum[p][n] = add(sum[p][n], finish(c[p][n], s[p]->twice[start / 4]));
        } else {
          sum[p][n] = add(sum[p][n], finish(c[p][n]));
        }
      }
    }
  }
  PLUMB_UNROLL(8)
  for (int n = 0; n < N; ++n) {
    PLUMB_UNROLL(2)
    for (int p = 0; p < P; ++p) out[p][n] = to_f32(sum[p][n]);
  }
}

template <Form F, int P, int N, typename Codes>
PLUMB_INLINE void dots(const Codes& codes_of, const Scaling<F>* const (&s)[P], const Rows<N>& rows,
                       uint64_t block, f32x16 (&out)[P][N]) {
  if constexpr (kByteDots || F.bits == 8) {
    byte_dots<F, P, N>(codes_of, s, rows, block, out);
  } else {
    chain_dots<F, P, N>(codes_of, s, rows, block, out);
  }
}

/// acc + term, by the format's rule.
template <Form F>
PLUMB_INLINE f32x16 add_term(f32x16 acc, const Scaling<F>& s, const ActivationBlock& a,
                             f32x16 dot) {
  const f32x16 scale = splat(a.scale);
  f32x16 term = mul(mul(s.d, scale), dot);
  if constexpr (F.minimum == Minimum::kOne) term = add(term, mul(s.m, splat(a.scaled_sum)));
  if constexpr (F.minimum == Minimum::kHalves) {
    const f32x16 minima = to_f32(dot_pairs(s.minimum, splat_pair(a.half_sum)));
    term = sub(term, mul(mul(s.m, scale), minima));
  }
  return add(acc, term);
}

}  // namespace plumbline::cpu::PLUMB_CPU_VARIANT
