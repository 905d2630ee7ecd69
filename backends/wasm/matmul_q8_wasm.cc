// matmul_q8_wasm.cc: quantised weights times quantised activations, row by row, in the form that
// suits WebAssembly. In the module it takes the place of backends/cpu/kernels/matmul_q8.cc, with
// the same layouts, rules and bits. Measured on Zen 5, one core, wasmtime 50. One row, GB/s of that
// one and of this: Q8_0 21, 31; Q4_0 13, 20; Q4_1 13, 20; Q4_K 11, 17. 128 rows, GMAC/s: Q8_0 29,
// 36; Q4_0 27, 37; Q4_1 25, 35; Q4_K 25, 32.
#include "backends/cpu/kernels/functions.h"
#include "backends/cpu/kernels/outputs.h"
#include "backends/cpu/kernels/panel.h"

namespace plumbline::cpu::PLUMB_CPU_VARIANT {
namespace {

/// How codes meet activations. Codes are taken as words of 16 bits, which are multiplied as i16 and
/// added by pairs: bytes 0 and 1 of a quad are a word, bytes 2 and 3 the other. A word is cut in
/// pieces with one code each, wherever in the word that lies; activations are scaled so that every
/// product is 256 times too large.
enum class Words : uint8_t {
  kNibbles,  // four codes: bits 0-3 and 8-11 of group 2n, 4-7 and 12-15 of group 2n + 1
  kSigned,  // two codes, signed
  kBytes,  // two unsigned codes below 2^7
};
constexpr Words words_of(const Layout& layout) {
  if (layout.is_signed()) return Words::kSigned;
  return layout.bits() == 4 ? Words::kNibbles : Words::kBytes;
}

/// The activations of a block as the products want them. Scales of weights are used as the bits of
/// their halves where an f32 has its exponent and fraction, which is 2^-112 of their value; the
/// numbers here make up for that, and for sums that are 256 times too large.
struct Factors {
  alignas(16) int16_t pairs[kBlock];  // four pairs for each two groups
  float scale;
  float scaled_sum;
  int32_t offset;  // what an offset of the codes adds to a sum, 256 times
  int16_t half_sum[2];
};
static_assert(sizeof(Factors) <= kFactorBytes);

// Powers of two change no bit of a product while all numbers on the way stay normal. Scales from
// 2^-94 on times a half's smallest number do, and so do numbers below 2^15.
constexpr float kScaleMin = 0x1p-94f;
constexpr float kNumberEnd = 0x1p15f;

template <Words W>
PLUMB_INLINE void make_pairs(const int8_t* codes, int16_t* out) {
  for (int half = 0; half < 2; ++half, codes += 16, out += 16) {
    // Lane g: group g of four. The second code of a word is 256 times too large where it lies.
    const v128_t c = wasm_v128_load(codes);
    const v128_t first_256 = wasm_i16x8_shl(c, 8);
    const v128_t first = wasm_i16x8_shr(first_256, 8);
    const v128_t second = wasm_i16x8_shr(c, 8);
    const v128_t second_256 = wasm_v128_and(c, wasm_u16x8_const_splat(0xff00));
    v128_t low, high;
    if constexpr (W == Words::kNibbles) {
      const v128_t a = wasm_i32x4_shuffle(first_256, wasm_i16x8_shl(first, 4), 0, 5, 2, 7);
      const v128_t b = wasm_i32x4_shuffle(second, second_256, 0, 5, 2, 7);
      low = wasm_i32x4_shuffle(a, b, 0, 1, 4, 5);
      high = wasm_i32x4_shuffle(a, b, 2, 3, 6, 7);
    } else {
      // A whole word is its first code and 256 times its second.
      const v128_t a = W == Words::kSigned ? first : second;
      const v128_t b = W == Words::kSigned ? second_256 : wasm_i16x8_sub(first_256, second);
      low = wasm_i32x4_shuffle(a, b, 0, 4, 1, 5);
      high = wasm_i32x4_shuffle(a, b, 2, 6, 3, 7);
    }
    wasm_v128_store(out, low);
    wasm_v128_store(out + 8, high);
  }
}

/// False if a block's numbers are too large or too small for these products.
template <Layout L>
bool make_factors(const ActivationBlock* in, uint64_t n_blocks, Factors* out) {
  bool fits = true;
  for (uint64_t b = 0; b < n_blocks; ++b, ++in, ++out) {
    make_pairs<words_of(L)>(in->codes, out->pairs);
    fits &= in->scale == 0.0f || (in->scale >= kScaleMin && in->scale < kNumberEnd);
    fits &= in->scaled_sum < kNumberEnd && in->scaled_sum > -kNumberEnd;
    out->scale = in->scale * (L.halves() ? 0x1p112f : 0x1p104f);
    out->scaled_sum = in->scaled_sum * 0x1p112f;
    out->offset = L.offset * 256 * (in->half_sum[0] + in->half_sum[1]);
    out->half_sum[0] = in->half_sum[0];
    out->half_sum[1] = in->half_sum[1];
  }
  return fits;
}

/// wasmtime's compiler leaves loads where they stand and puts sums where they are needed first. A
/// block's loads would all come before its sums, and most would be spilled. A store needs its sum,
/// so one after each few products keeps the order as written. Measured on Zen 5, one core, GB/s
/// without and with: Q8_0 20, 30; Q4_0 14, 18.
class Settle {
 public:
  PLUMB_INLINE void operator()(int i, v128_t sum) {
    *static_cast<volatile v128_t*>(&place_[i]) = sum;
  }

 private:
  v128_t place_[kParts];
};

template <int kAt>
PLUMB_INLINE v128_t splat_lane(v128_t x) {
  return wasm_i32x4_shuffle(x, x, kAt, kAt, kAt, kAt);
}
PLUMB_INLINE v128_t add_dot(v128_t sum, v128_t words, v128_t pairs) {
  return wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(words, pairs));
}

/// sum + the dot product of groups 2n and 2n + 1.
template <Layout L>
PLUMB_INLINE chain add_groups(chain sum, const uint8_t* planes, const Factors& factors, int n,
                              Settle& settle) {
  const v128_t pairs = wasm_v128_load(factors.pairs + 8 * n);
  const v128_t a = splat_lane<0>(pairs);
  const v128_t b = splat_lane<1>(pairs);
  const v128_t c = splat_lane<2>(pairs);
  const v128_t d = splat_lane<3>(pairs);
  if constexpr (words_of(L) == Words::kNibbles) {
    PLUMB_UNROLL(4)
    for (int i = 0; i < kParts; ++i) {
      const v128_t w = load_quads(planes + kQuads * static_cast<uint64_t>(n)).v[i];
      v128_t& s = sum.v[i];
      s = add_dot(s, wasm_v128_and(w, wasm_i16x8_const_splat(0x000f)), a);
      s = add_dot(s, wasm_v128_and(w, wasm_i16x8_const_splat(0x00f0)), b);
      s = add_dot(s, wasm_v128_and(w, wasm_i16x8_const_splat(0x0f00)), c);
      s = add_dot(s, wasm_u16x8_shr(w, 12), d);
      settle(i, s);
    }
    return sum;
  }
  PLUMB_UNROLL(2)
  for (int group = 0; group < 2; ++group) {
    const v128_t first = group == 0 ? a : c;
    const v128_t second = group == 0 ? b : d;
    PLUMB_UNROLL(4)
    for (int i = 0; i < kParts; ++i) {
      const v128_t w = codes<L>(planes, 2 * n + group).v[i];
      v128_t& s = sum.v[i];
      if constexpr (words_of(L) == Words::kSigned) {
        s = add_dot(s, wasm_i16x8_shl(w, 8), first);
        s = add_dot(s, wasm_i16x8_shr(w, 8), second);
      } else {
        s = add_dot(s, w, first);
        s = add_dot(s, wasm_v128_and(w, wasm_i16x8_const_splat(0x00ff)), second);
      }
      settle(i, s);
    }
  }
  return sum;
}

/// The dot product of groups [2 * first, 2 * end), times 256.
template <Layout L>
PLUMB_INLINE i32x16 dot(const uint8_t* planes, const Factors& factors, int first, int end,
                        Settle& settle) {
  chain sum = start_chain();
  PLUMB_UNROLL(4)
  for (int n = first; n < end; ++n) sum = add_groups<L>(sum, planes, factors, n, settle);
  return each_part<i32x16>([&](int i) { return sum.v[i]; });
}

/// 16 halves as f32, times 2^-112. They are finite: weights.cc has seen to that.
PLUMB_INLINE f32x16 scales_at(const uint8_t* from) {
  return each_part<f32x16>([from](int i) {
    return wasm_v128_and(wasm_i32x4_shl(wasm_i32x4_load16x4(from + 8 * i), 13),
                         wasm_i32x4_const_splat(static_cast<int32_t>(0x8fffe000)));
  });
}

/// The scales in a unit's head.
template <Layout L>
struct Head {
  f32x16 d, m;

  PLUMB_INLINE explicit Head(const uint8_t* head) {
    if constexpr (L.head_bytes() >= 32) d = scales_at(head);
    if constexpr (L.head_bytes() >= 64) m = scales_at(head + 32);
  }
};

PLUMB_INLINE i32x16 mul(i32x16 a, i32x16 b) {
  return each_part<i32x16>([&](int i) { return wasm_i32x4_mul(a.v[i], b.v[i]); });
}

/// The term of a block with one sum.
template <Layout L>
PLUMB_INLINE f32x16 term(const Head<L>& head, const uint8_t* block, const Factors& factors,
                         Settle& settle) {
  f32x16 d, m;
  if constexpr (L.scales == Scales::kSuperMin) {
    d = simd::mul(head.d, to_f32(from_i8(block)));
    m = simd::mul(head.m, to_f32(from_i8(block + 16)));
  } else {
    d = scales_at(block);
    if constexpr (L.scales == Scales::kMinimum) m = scales_at(block + 32);
  }
  i32x16 sum = dot<L>(block + L.scale_bytes(), factors, 0, 4, settle);
  const v128_t numbers = wasm_v128_load(&factors.scale);
  const v128_t scale = splat_lane<0>(numbers);
  const v128_t scaled_sum = splat_lane<1>(numbers);
  const v128_t offset = splat_lane<2>(numbers);
  return each_part<f32x16>([&](int i) {
    if constexpr (L.offset != 0) sum.v[i] = wasm_i32x4_sub(sum.v[i], offset);
    v128_t t = wasm_f32x4_mul(wasm_f32x4_mul(d.v[i], scale), wasm_f32x4_convert_i32x4(sum.v[i]));
    if constexpr (L.scales == Scales::kMinimum) {
      t = wasm_f32x4_add(t, wasm_f32x4_mul(m.v[i], scaled_sum));
    } else if constexpr (L.scales == Scales::kSuperMin) {
      t = wasm_f32x4_sub(t, wasm_f32x4_mul(m.v[i], scaled_sum));
    }
    return t;
  });
}

/// The term of a block with a sum for each half.
template <Layout L>
PLUMB_INLINE f32x16 term_of_halves(const Head<L>& head, const uint8_t* block,
                                   const Factors& factors, Settle& settle) {
  const uint8_t* planes = block + L.scale_bytes();
  i16x32 sc, mn;
  if constexpr (L.scales == Scales::kHalves) {
    sc = pairs_i8(block);
  } else {
    const i16x32 packed = pairs_u8(block);
    sc = bit_and(packed, 15);
    mn = shift_right(packed, 4);
  }
  i32x16 sum = mul(evens(sc), shift_right(dot<L>(planes, factors, 0, 2, settle), 8));
  sum = add(sum, mul(odds(sc), shift_right(dot<L>(planes, factors, 2, 4, settle), 8)));
  const v128_t numbers = wasm_v128_load(&factors.scale);
  const f32x16 scale = each_part<f32x16>([=](int) { return splat_lane<0>(numbers); });
  const i16x32 half_sum = each_part<i16x32>([=](int) { return splat_lane<3>(numbers); });
  if constexpr (L.offset != 0) {
    constexpr int kShift = __builtin_ctz(static_cast<unsigned>(L.offset));
    sum = sub(sum, shift_left(dot_pairs(sc, half_sum), kShift));
  }
  f32x16 t = simd::mul(simd::mul(head.d, scale), to_f32(sum));
  if constexpr (L.scales == Scales::kHalvesMin) {
    t = sub(t, simd::mul(simd::mul(head.m, scale), to_f32(dot_pairs(mn, half_sum))));
  }
  return t;
}

/// Reads from each cache line of a block. Codes and scales that lie in several places keep the
/// processor from fetching in time; this way it sees lines in their order. WebAssembly has no
/// prefetch. Measured on Zen 5, GB/s without and with: Q4_K 14, 17; Q5_0 8, 15; Q6_K 14, 16; but
/// where a block is one piece, Q8_0 30, 27; Q4_0 19.3, 18.7.
template <Layout L>
PLUMB_INLINE void fetch(const uint8_t* block) {
  if constexpr (words_of(L) != Words::kBytes && L.blocks == 1) return;
  for (uint64_t line = 0; line < L.block_bytes(); line += 64) {
    static_cast<void>(*static_cast<const volatile uint8_t*>(block + line));
  }
}

/// One panel times one row. last: the last block that may be read.
template <Layout L>
PLUMB_INLINE f32x16 product(const uint8_t* unit, uint64_t n_units, const Factors* factors,
                            const uint8_t* last, Settle& settle) {
  f32x16 acc = splat(0.0f);
  for (uint64_t u = 0; u < n_units; ++u, unit += L.unit_bytes()) {
    const Head<L> head(unit);
    const uint8_t* block = unit + L.head_bytes();
    for (uint64_t b = 0; b < L.blocks; ++b, ++factors, block += L.block_bytes()) {
      fetch<L>(block == last ? block : block + L.block_bytes());
      if constexpr (L.halves()) {
        acc = add(acc, term_of_halves<L>(head, block, *factors, settle));
      } else {
        acc = add(acc, term<L>(head, block, *factors, settle));
      }
      for (int i = 0; i < kParts; ++i) settle(i, acc.v[i]);
    }
  }
  return acc;
}

/// Some rows share a panel while it is in the cache. Not inlined: an engine compiles small
/// functions better, and several at a time.
template <Layout L>
__attribute__((noinline)) void few_rows(const MatmulArgs& args, Range panels) {
  const auto* in = reinterpret_cast<const ActivationBlock*>(static_cast<const uint8_t*>(args.in));
  auto* factors = reinterpret_cast<Factors*>(static_cast<uint8_t*>(args.scratch));
  const uint64_t n_blocks = args.n_in / kBlock;
  const uint64_t n_units = args.n_in / L.unit_values();
  const uint8_t* const last = args.weight + panels.end * n_units * L.unit_bytes() - L.block_bytes();
  Settle settle;
  for (uint64_t first = 0; first < args.n_rows; first += kFactorRows) {
    const uint64_t rest = args.n_rows - first;
    const uint64_t n = rest < kFactorRows ? rest : kFactorRows;
    if (!make_factors<L>(in + first * n_blocks, n * n_blocks, factors)) {
      return matmul_q8_tiles(args, panels);
    }
    for (uint64_t panel = panels.begin; panel < panels.end; ++panel) {
      const uint8_t* unit = args.weight + panel * n_units * L.unit_bytes();
      for (uint64_t r = 0; r < n; ++r) {
        const f32x16 sum = product<L>(unit, n_units, factors + r * n_blocks, last, settle);
        write_panel(args, first + r, panel, sum, true);
      }
    }
  }
}

}  // namespace

void matmul_q8(const MatmulArgs& args, Range panels) {
  with_layout(args.format, [&]<Layout L>() {
    // Codes of other forms are worth being unpacked for many rows.
    if (args.n_rows == 1 || words_of(L) != Words::kBytes) {
      few_rows<L>(args, panels);
    } else {
      matmul_q8_tiles(args, panels);
    }
  });
}

}  // namespace plumbline::cpu::PLUMB_CPU_VARIANT
