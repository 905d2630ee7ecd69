// matmul_q8.cc: quantised weights times quantised activations. Lane = output row; blocks are added
// in order.
#include "backends/cpu/kernels/functions.h"
#include "backends/cpu/kernels/panel.h"

namespace plumbline::cpu::PLUMB_CPU_VARIANT {
namespace {

/// The activations of up to kTile rows at one block.
template <int N>
struct Activations {
  const int8_t* codes[N];
  const float* scales[N];
  const int16_t* sums[N];

  PLUMB_INLINE Activations at_row(const uint8_t* in, uint64_t row, uint64_t width) {
    const ActivationRow layout{width};
    Activations a;
    for (int t = 0; t < N; ++t) {
      const uint8_t* start = in + (row + static_cast<uint64_t>(t)) * layout.bytes();
      a.codes[t] = reinterpret_cast<const int8_t*>(start);
      a.scales[t] = reinterpret_cast<const float*>(start + layout.scales_at());
      a.sums[t] = reinterpret_cast<const int16_t*>(start + layout.sums_at());
    }
    return a;
  }
};

/// sum[t] = the integer part of the term: sum of code * a, or of sc * code * a where halves have
/// scales. Unsigned codes run in chains that are finished before they could overflow.
template <Layout L, int N, typename Codes>
PLUMB_INLINE void integer_sums(const Codes& codes_of,
                               [[maybe_unused]] const BlockScales<L.scales>& s,
                               const Activations<N>& a, uint64_t block, i32x16 (&sum)[N]) {
  for (int t = 0; t < N; ++t) sum[t] = splat(int32_t{0});
  if constexpr (L.is_signed()) {
    PLUMB_UNROLL(8)
    for (int group = 0; group < 8; ++group) {
      const quads w = codes_of(group);
      PLUMB_UNROLL(4)
      for (int t = 0; t < N; ++t) {
        sum[t] = add_dot_i8(sum[t], w, splat_quad(a.codes[t] + kBlock * block + 4 * group));
      }
    }
  } else {
    constexpr int kLimit = chain_length(static_cast<int>(L.bits()));
    constexpr int kLength = L.halves() && kLimit > 4 ? 4 : kLimit;
    PLUMB_UNROLL(8)
    for (int start = 0; start < 8; start += kLength) {
      chain c[N];
      for (int t = 0; t < N; ++t) c[t] = start_chain();
      PLUMB_UNROLL(8)
      for (int group = start; group < start + kLength; ++group) {
        const quads w = codes_of(group);
        PLUMB_UNROLL(4)
        for (int t = 0; t < N; ++t) {
          c[t] = extend(c[t], w, splat_quad(a.codes[t] + kBlock * block + 4 * group));
        }
      }
      PLUMB_UNROLL(4)
      for (int t = 0; t < N; ++t) {
        if constexpr (L.halves()) {
          sum[t] = add(sum[t], finish(c[t], s.scale[start / 4]));
        } else {
          sum[t] = add(sum[t], finish(c[t]));
        }
      }
    }
  }
}

/// acc[t] = acc[t] + term, by the format's rule.
template <Layout L, int N>
PLUMB_INLINE void add_terms(const BlockScales<L.scales>& s, const Activations<N>& a, uint64_t block,
                            i32x16 (&sum)[N], f32x16 (&acc)[N]) {
  PLUMB_UNROLL(4)
  for (int t = 0; t < N; ++t) {
    const int16_t* halves = a.sums[t] + 2 * block;
    const float d_a = a.scales[t][block];
    if constexpr (L.offset != 0) {
      i32x16 shifted;
      if constexpr (L.halves()) {
        shifted = dot_pairs(s.both, splat_pair(halves));
      } else {
        shifted = splat(halves[0] + halves[1]);
      }
      constexpr int kShift = __builtin_ctz(static_cast<unsigned>(L.offset));
      static_assert(L.offset == 1 << kShift);
      sum[t] = sub(sum[t], shift_left(shifted, kShift));
    }
    f32x16 term = mul(mul(s.d, splat(d_a)), to_f32(sum[t]));
    const auto sum_a = [&] { return splat(d_a * static_cast<float>(halves[0] + halves[1])); };
    if constexpr (L.scales == Scales::kMinimum) term = add(term, mul(s.m, sum_a()));
    if constexpr (L.scales == Scales::kSuperMin) term = sub(term, mul(s.m, sum_a()));
    if constexpr (L.scales == Scales::kHalvesMin) {
      const f32x16 minima = to_f32(dot_pairs(s.minimum, splat_pair(halves)));
      term = sub(term, mul(mul(s.m, splat(d_a)), minima));
    }
    acc[t] = add(acc[t], term);
  }
}

template <int N>
PLUMB_INLINE void finish_rows(const MatmulArgs& args, uint64_t row, uint64_t panel,
                              const f32x16 (&acc)[N]) {
  const uint64_t first = panel * kLanes;
  const uint64_t lanes = args.n_out - first < kLanes ? args.n_out - first : kLanes;
  for (int t = 0; t < N; ++t) {
    const f32x16 value = args.bias != nullptr ? add(acc[t], load(args.bias + first)) : acc[t];
    float* out = args.out + (row + static_cast<uint64_t>(t)) * args.n_out + first;
    if (lanes == kLanes) {
      store(out, value);
    } else {
      store_first(out, value, lanes);
    }
  }
}

/// Weights are asked for this long before they are used: the processor's own prefetching loses its
/// lead while it waits for arithmetic. Measured on Zen 5, one core, GB/s at 0, 2 and 8 KiB: Q4_1
/// 33, 34, 40; Q5_K 20, 29, 36; Q6_K 24, 32, 40.
constexpr uint64_t kAheadBytes = 8192;

/// One activation row: codes go from the prepared block to the product without a stop.
template <Layout L>
void one_row(const MatmulArgs& args, Range panels) {
  const Activations<1> a = Activations<1>().at_row(args.in, 0, args.n_in);
  const uint64_t n_units = args.n_in / L.unit_values();
  const uint8_t* unit = args.weight + panels.begin * n_units * L.unit_bytes();
  for (uint64_t panel = panels.begin; panel < panels.end; ++panel) {
    f32x16 acc[1] = {splat(0.0f)};
    for (uint64_t u = 0; u < n_units; ++u, unit += L.unit_bytes()) {
      for (uint64_t b = 0; b < L.blocks; ++b) {
        const uint8_t* block = unit + L.head_bytes() + b * L.block_bytes();
        const uint8_t* planes = block + L.scale_bytes();
        for (uint64_t line = 0; line < L.block_bytes(); line += 64)
          __builtin_prefetch(block + kAheadBytes + line);
        const auto s = block_scales<L>(unit, block);
        i32x16 sum[1];
        const auto codes_of = [planes](int group) __attribute__((always_inline)) {
          return codes<L>(planes, group);
        };
        integer_sums<L, 1>(codes_of, s, a, u * L.blocks + b, sum);
        add_terms<L, 1>(s, a, u * L.blocks + b, sum, acc);
      }
    }
    finish_rows<1>(args, 0, panel, acc);
  }
}

/// A panel unpacked for many activation rows: per block the scales, then 8 quads of whole codes.
template <Scales S>
struct UnpackedBlock {
  BlockScales<S> scales;
  uint8_t quads[8 * kQuads];
};

template <Layout L>
void unpack_panel(const uint8_t* panel, uint64_t n_units, UnpackedBlock<L.scales>* out) {
  for (uint64_t u = 0; u < n_units; ++u, panel += L.unit_bytes()) {
    for (uint64_t b = 0; b < L.blocks; ++b, ++out) {
      const uint8_t* block = panel + L.head_bytes() + b * L.block_bytes();
      out->scales = block_scales<L>(panel, block);
      PLUMB_UNROLL(8)
      for (int group = 0; group < 8; ++group) {
        store_quads(out->quads + kQuads * group, codes<L>(block + L.scale_bytes(), group));
      }
    }
  }
}

template <Layout L, int N>
void tile(const MatmulArgs& args, const UnpackedBlock<L.scales>* blocks, uint64_t panel,
          uint64_t row) {
  const auto a = Activations<N>().at_row(args.in, row, args.n_in);
  f32x16 acc[N];
  for (int t = 0; t < N; ++t) acc[t] = splat(0.0f);
  for (uint64_t block = 0; block < args.n_in / kBlock; ++block) {
    const uint8_t* stored = blocks[block].quads;
    i32x16 sum[N];
    const auto codes_of = [stored](int group) __attribute__((always_inline)) {
      return load_quads(stored + kQuads * group);
    };
    integer_sums<L, N>(codes_of, blocks[block].scales, a, block, sum);
    add_terms<L, N>(blocks[block].scales, a, block, sum, acc);
  }
  finish_rows<N>(args, row, panel, acc);
}

template <Layout L>
void many_rows(const MatmulArgs& args, Range panels) {
  const uint64_t n_units = args.n_in / L.unit_values();
  static_assert(sizeof(UnpackedBlock<L.scales>) <= kUnpackedBytes);
  auto* blocks = reinterpret_cast<UnpackedBlock<L.scales>*>(static_cast<uint8_t*>(args.scratch));
  for (uint64_t panel = panels.begin; panel < panels.end; ++panel) {
    unpack_panel<L>(args.weight + panel * n_units * L.unit_bytes(), n_units, blocks);
    uint64_t row = 0;
    for (; row + kTile <= args.n_rows; row += kTile) tile<L, kTile>(args, blocks, panel, row);
    if (args.n_rows - row >= 2) {
      tile<L, 2>(args, blocks, panel, row);
      row += 2;
    }
    if (row < args.n_rows) tile<L, 1>(args, blocks, panel, row);
  }
}

}  // namespace

void matmul_q8(const MatmulArgs& args, Range panels) {
  with_layout(args.format, [&]<Layout L>() {
    if (args.n_rows == 1) {
      one_row<L>(args, panels);
    } else {
      many_rows<L>(args, panels);
    }
  });
}

}  // namespace plumbline::cpu::PLUMB_CPU_VARIANT
