// matmul_f32.cc: any weights times f32 activations. Lane = output row; inside a block of 32 the
// products are added in order, then the block's sum to the row's.
#include "backends/cpu/kernels/functions.h"
#include "backends/cpu/kernels/panel.h"

namespace plumbline::cpu::PLUMB_CPU_VARIANT {
namespace {

/// Values of a panel that are dequantised at a time for one activation row: they stay in the
/// first-level cache.
constexpr uint64_t kChunk = 256;

/// Values [k, k + n) of a panel of 16 rows as f32[n][16]: in place for F32, else written to the
/// scratch. k and n are whole units of the format.
const float* panel_values(const MatmulArgs& args, uint64_t panel, uint64_t k, uint64_t n) {
  const Layout& layout = *find_layout(args.format);
  const uint8_t* from =
      args.weight + (panel * args.n_in + k) / layout.unit_values() * layout.unit_bytes();
  if (layout.format == PLUMB_F32) return reinterpret_cast<const float*>(from);
  auto* out = reinterpret_cast<float*>(static_cast<uint8_t*>(args.scratch));
  if (layout.format == PLUMB_F16 || layout.format == PLUMB_BF16) {
    for (uint64_t i = 0; i < n; ++i, from += layout.unit_bytes()) {
      store(out + i * kLanes, layout.format == PLUMB_F16 ? from_f16(from) : from_bf16(from));
    }
    return out;
  }
  float* to = out;
  with_layout(layout.format, [&]<Layout L>() {
    for (uint64_t u = 0; u < n / L.unit_values(); ++u, from += L.unit_bytes()) {
      for (uint64_t b = 0; b < L.blocks; ++b, to += kBlock * kLanes) {
        dequantise_block<L>(from, from + L.head_bytes() + b * L.block_bytes(), to);
      }
    }
  });
  return out;
}

/// R rows times B neighbouring blocks of n <= 32 values: sums are independent, so they run side by
/// side. w and x start at the first of these values.
template <int R, int B>
PLUMB_INLINE void add_blocks(const float* w, const float* const (&x)[R], uint64_t first, uint64_t n,
                             f32x16 (&acc)[R]) {
  f32x16 sum[R][B];
  for (int r = 0; r < R; ++r) {
    for (int b = 0; b < B; ++b) sum[r][b] = splat(0.0f);
  }
  for (uint64_t i = 0; i < n; ++i) {
    PLUMB_UNROLL(4)
    for (int b = 0; b < B; ++b) {
      const uint64_t at = static_cast<uint64_t>(b) * kBlock + i;
      const f32x16 weight = load(w + at * kLanes);
      PLUMB_UNROLL(4)
      for (int r = 0; r < R; ++r) sum[r][b] = add(sum[r][b], mul(weight, splat(x[r][first + at])));
    }
  }
  for (int r = 0; r < R; ++r) {
    for (int b = 0; b < B; ++b) acc[r] = add(acc[r], sum[r][b]);
  }
}

/// acc[r] += values [first, first + n) of x[r] times w f32[n][16].
template <int R>
PLUMB_INLINE void add_values(const float* w, const float* const (&x)[R], uint64_t first, uint64_t n,
                             f32x16 (&acc)[R]) {
  constexpr uint64_t kBlocksAtOnce = kTile / R;
  constexpr uint64_t kStep = kBlocksAtOnce * kBlock;
  uint64_t k = 0;
  for (; k + kStep <= n; k += kStep) {
    add_blocks<R, static_cast<int>(kBlocksAtOnce)>(w + k * kLanes, x, first + k, kBlock, acc);
  }
  for (; k + kBlock <= n; k += kBlock) add_blocks<R, 1>(w + k * kLanes, x, first + k, kBlock, acc);
  if (k < n) add_blocks<R, 1>(w + k * kLanes, x, first + k, n - k, acc);
}

/// Activation rows row .. row + R - 1 while their sums over a panel are made.
template <int R>
struct Rows {
  const float* x[R];
  f32x16 acc[R];

  PLUMB_INLINE Rows(const MatmulArgs& args, uint64_t row) {
    for (int r = 0; r < R; ++r) {
      x[r] = reinterpret_cast<const float*>(static_cast<const uint8_t*>(args.in)) +
             (row + static_cast<uint64_t>(r)) * args.n_in;
      acc[r] = splat(0.0f);
    }
  }

  PLUMB_INLINE void finish(const MatmulArgs& args, uint64_t panel, uint64_t row) const {
    const uint64_t first = panel * kLanes;
    const uint64_t lanes = args.n_out - first < kLanes ? args.n_out - first : kLanes;
    for (int r = 0; r < R; ++r) {
      const f32x16 value = args.bias != nullptr ? add(acc[r], load(args.bias + first)) : acc[r];
      store_first(args.out + (row + static_cast<uint64_t>(r)) * args.n_out + first, value, lanes);
    }
  }
};

void one_row(const MatmulArgs& args, uint64_t panel) {
  Rows<1> rows(args, 0);
  for (uint64_t k = 0; k < args.n_in; k += kChunk) {
    const uint64_t n = args.n_in - k < kChunk ? args.n_in - k : kChunk;
    add_values(panel_values(args, panel, k, n), rows.x, k, n, rows.acc);
  }
  rows.finish(args, panel, 0);
}

template <int R>
void some_rows(const MatmulArgs& args, const float* w, uint64_t panel, uint64_t row) {
  Rows<R> rows(args, row);
  add_values(w, rows.x, 0, args.n_in, rows.acc);
  rows.finish(args, panel, row);
}

}  // namespace

void matmul_f32(const MatmulArgs& args, Range panels) {
  for (uint64_t panel = panels.begin; panel < panels.end; ++panel) {
    if (args.n_rows == 1) {
      one_row(args, panel);
      continue;
    }
    const float* w = panel_values(args, panel, 0, args.n_in);
    uint64_t row = 0;
    for (; row + kTile <= args.n_rows; row += kTile) some_rows<kTile>(args, w, panel, row);
    if (args.n_rows - row >= 2) {
      some_rows<2>(args, w, panel, row);
      row += 2;
    }
    if (row < args.n_rows) some_rows<1>(args, w, panel, row);
  }
}

}  // namespace plumbline::cpu::PLUMB_CPU_VARIANT
