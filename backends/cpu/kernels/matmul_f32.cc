// matmul_f32.cc: any weights times f32 activations. Lane = output row; inside a block of 32 the
// products are added in order, then the block's sum to the row's.
#include "backends/cpu/kernels/functions.h"
#include "backends/cpu/kernels/outputs.h"
#include "backends/cpu/kernels/panel.h"

namespace plumbline::cpu::PLUMB_CPU_VARIANT {
namespace {

/// Weights are asked for this long before they are used, as in matmul_q8.cc.
constexpr uint64_t kAheadBytes = 8192;

/// 16 rows' weights of one column.
template <plumb_format F>
PLUMB_INLINE f32x16 load_weights(const uint8_t* from) {
  if constexpr (F == PLUMB_F16) return from_f16(from);
  if constexpr (F == PLUMB_BF16) return from_bf16(from);
  if constexpr (F == PLUMB_F32) return load(reinterpret_cast<const float*>(from));
}
template <plumb_format F>
constexpr uint64_t kColumnBytes = F == PLUMB_F32 ? 64 : 32;

/// Columns [k, k + n) of a panel, whole units of the format, as f32[n][16]: in place for F32, else
/// written to `out`.
const uint8_t* unpack_columns(const MatmulArgs& args, uint64_t panel, uint64_t k, uint64_t n,
                              uint8_t* out) {
  const Layout& layout = *find_layout(args.format);
  const uint8_t* from =
      args.weight + (panel * args.n_in + k) / layout.unit_values() * layout.unit_bytes();
  if (layout.format == PLUMB_F32) return from;
  auto* to = reinterpret_cast<float*>(out);
  if (layout.plain()) {
    for (uint64_t i = 0; i < n; ++i, from += layout.unit_bytes(), to += kLanes) {
      store(to, layout.format == PLUMB_F16 ? from_f16(from) : from_bf16(from));
    }
    return out;
  }
  with_layout(args.format, [&]<Layout L>() {
    for (uint64_t u = 0; u < n / L.unit_values(); ++u, from += L.unit_bytes()) {
      for (uint64_t b = 0; b < L.blocks; ++b, to += kBlock * kLanes) {
        dequantise_block<L>(from, from + L.head_bytes() + b * L.block_bytes(), to);
      }
    }
  });
  return out;
}

/// P panels times R rows while their sums are made.
template <int P, int R>
struct Tile {
  const float* x[R];
  f32x16 acc[P][R] = {};

  PLUMB_INLINE Tile(const MatmulArgs& args, uint64_t row) {
    const auto* in = reinterpret_cast<const float*>(static_cast<const uint8_t*>(args.in));
    for (int r = 0; r < R; ++r) x[r] = in + (row + static_cast<uint64_t>(r)) * args.n_in;
  }

  /// B neighbouring blocks of n <= 32 columns: sums are independent, so they run side by side.
  /// w: each panel's weights from column `first` on.
  template <plumb_format F, int B>
  PLUMB_INLINE void add_blocks(const uint8_t* const (&w)[P], uint64_t first, uint64_t n) {
    f32x16 sum[P][R][B] = {};
    for (uint64_t i = 0; i < n; ++i) {
      PLUMB_UNROLL(4)
      for (int b = 0; b < B; ++b) {
        const uint64_t at = static_cast<uint64_t>(b) * kBlock + i;
        f32x16 weight[P];
        PLUMB_UNROLL(2)
        for (int p = 0; p < P; ++p) weight[p] = load_weights<F>(w[p] + at * kColumnBytes<F>);
        if constexpr (R == 1) __builtin_prefetch(w[0] + at * kColumnBytes<F> + kAheadBytes);
        PLUMB_UNROLL(4)
        for (int r = 0; r < R; ++r) {
          const f32x16 value = splat(x[r][first + at]);
          PLUMB_UNROLL(2)
          for (int p = 0; p < P; ++p) sum[p][r][b] = add(sum[p][r][b], mul(weight[p], value));
        }
      }
    }
    PLUMB_UNROLL(4)
    for (int r = 0; r < R; ++r) {
      PLUMB_UNROLL(2)
      for (int p = 0; p < P; ++p) {
        PLUMB_UNROLL(4)
        for (int b = 0; b < B; ++b) acc[p][r] = add(acc[p][r], sum[p][r][b]);
      }
    }
  }

  /// Columns [first, first + n), whole blocks but for the row's last.
  template <plumb_format F>
  PLUMB_INLINE void add_columns(const uint8_t* const (&weights)[P], uint64_t first, uint64_t n) {
    constexpr int kAtOnce = 4 / R;
    const uint8_t* w[P];
    for (int p = 0; p < P; ++p) w[p] = weights[p];
    const auto step = [&](uint64_t columns) __attribute__((always_inline)) {
      for (int p = 0; p < P; ++p) w[p] += columns * kColumnBytes<F>;
      first += columns;
      n -= columns;
    };
    for (; n >= kAtOnce * kBlock; step(kAtOnce * kBlock)) add_blocks<F, kAtOnce>(w, first, kBlock);
    for (; n >= kBlock; step(kBlock)) add_blocks<F, 1>(w, first, kBlock);
    if (n != 0) add_blocks<F, 1>(w, first, n);
  }
};

template <plumb_format F>
void one_row_plain(const MatmulArgs& args, uint64_t panel) {
  Tile<1, 1> tile(args, 0);
  const uint8_t* const w[1] = {args.weight + panel * args.n_in * kColumnBytes<F>};
  tile.add_columns<F>(w, 0, args.n_in);
  write_panel(args, 0, panel, tile.acc[0][0], true);
}

void one_row(const MatmulArgs& args, uint64_t panel) {
  if (args.format == PLUMB_F32) return one_row_plain<PLUMB_F32>(args, panel);
  if (args.format == PLUMB_F16) return one_row_plain<PLUMB_F16>(args, panel);
  if (args.format == PLUMB_BF16) return one_row_plain<PLUMB_BF16>(args, panel);
  Tile<1, 1> tile(args, 0);
  for (uint64_t k = 0; k < args.n_in; k += kChunkColumns) {
    const uint64_t n = args.n_in - k < kChunkColumns ? args.n_in - k : kChunkColumns;
    const uint8_t* const w[1] = {unpack_columns(args, panel, k, n, args.scratch)};
    tile.add_columns<PLUMB_F32>(w, k, n);
  }
  write_panel(args, 0, panel, tile.acc[0][0], true);
}

/// Columns [k, k + n) of P panels from `panel` on, for rows row .. row + R - 1. Sums of earlier
/// columns wait in `out`.
template <int P, int R>
void some_rows(const MatmulArgs& args, const uint8_t* const (&w)[P], uint64_t k, uint64_t n,
               uint64_t panel, uint64_t row) {
  Tile<P, R> tile(args, row);
  if (k != 0) {
    PLUMB_UNROLL(4)
    for (uint64_t r = 0; r < R; ++r) {
      PLUMB_UNROLL(2)
      for (uint64_t p = 0; p < P; ++p) tile.acc[p][r] = read_panel(args, row + r, panel + p);
    }
  }
  tile.template add_columns<PLUMB_F32>(w, k, n);
  PLUMB_UNROLL(4)
  for (uint64_t r = 0; r < R; ++r) {
    PLUMB_UNROLL(2)
    for (uint64_t p = 0; p < P; ++p)
      write_panel(args, row + r, panel + p, tile.acc[p][r], k + n == args.n_in);
  }
}

template <int P>
void many_rows(const MatmulArgs& args, uint64_t panel) {
  for (uint64_t k = 0; k < args.n_in; k += kChunkColumns) {
    const uint64_t n = args.n_in - k < kChunkColumns ? args.n_in - k : kChunkColumns;
    const uint8_t* w[P];
    for (uint64_t p = 0; p < P; ++p) {
      w[p] = unpack_columns(args, panel + p, k, n,
                            args.scratch + p * kChunkColumns * kColumnBytes<PLUMB_F32>);
    }
    uint64_t row = 0;
    for (; row + kTile <= args.n_rows; row += kTile) {
      some_rows<P, kTile>(args, w, k, n, panel, row);
    }
    for (; row + 2 <= args.n_rows; row += 2) some_rows<P, 2>(args, w, k, n, panel, row);
    if (row < args.n_rows) some_rows<P, 1>(args, w, k, n, panel, row);
  }
}

}  // namespace

void matmul_f32(const MatmulArgs& args, Range panels) {
  uint64_t panel = panels.begin;
  if (args.n_rows == 1) {
    for (; panel < panels.end; ++panel) one_row(args, panel);
    return;
  }
  if constexpr (kRegisters >= 32) {
    for (; panel + kPanels <= panels.end; panel += kPanels) many_rows<kPanels>(args, panel);
  }
  for (; panel < panels.end; ++panel) many_rows<1>(args, panel);
}

}  // namespace plumbline::cpu::PLUMB_CPU_VARIANT
