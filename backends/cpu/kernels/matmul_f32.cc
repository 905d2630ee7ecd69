// matmul_f32.cc: any weights times f32 activations. Lane = output row; inside a block of 32 the products are
// added in order, then the block's sum to the row's.
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/panel.h"

namespace plumbline::cpu {
namespace {

/// A panel of 16 rows as f32[K][16]: in place for F32, else written to the scratch.
const float* panel_values(const MatmulArgs& args, uint64_t panel) {
  const Layout& layout = *args.layout;
  const uint64_t n_units = args.n_in / layout.unit_values();
  const uint8_t* from = args.weight + panel * n_units * layout.unit_bytes();
  if (layout.format == PLUMB_F32) return reinterpret_cast<const float*>(from);
  auto* out = static_cast<float*>(args.scratch);
  if (layout.format == PLUMB_F16 || layout.format == PLUMB_BF16) {
    for (uint64_t k = 0; k < args.n_in; ++k, from += layout.unit_bytes()) {
      store(out + k * kLanes, layout.format == PLUMB_F16 ? from_f16(from) : from_bf16(from));
    }
    return out;
  }
  float* to = out;
  with_layout(layout, [&]<Layout L>() {
    for (uint64_t u = 0; u < n_units; ++u, from += L.unit_bytes()) {
      for (uint64_t b = 0; b < L.blocks; ++b, to += kBlock * kLanes) {
        dequantise_block<L>(from, from + L.head_bytes() + b * L.block_bytes(), to);
      }
    }
  });
  return out;
}

/// R rows times B neighbouring blocks of n <= 32 values: sums are independent, so they run side by side.
template <int R, int B>
PLUMB_INLINE void add_blocks(const float* w, const float* const (&x)[R], uint64_t k, uint64_t n, f32x16 (&acc)[R]) {
  f32x16 sum[R][B];
  for (int r = 0; r < R; ++r) {
    for (int b = 0; b < B; ++b) sum[r][b] = splat(0.0f);
  }
  for (uint64_t i = 0; i < n; ++i) {
#pragma GCC unroll 4
    for (int b = 0; b < B; ++b) {
      const uint64_t at = k + static_cast<uint64_t>(b) * kBlock + i;
      const f32x16 weight = load(w + at * kLanes);
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) sum[r][b] = add(sum[r][b], mul(weight, splat(x[r][at])));
    }
  }
  for (int r = 0; r < R; ++r) {
    for (int b = 0; b < B; ++b) acc[r] = add(acc[r], sum[r][b]);
  }
}

template <int R>
void rows(const MatmulArgs& args, const float* w, uint64_t panel, uint64_t row) {
  constexpr int kAtOnce = static_cast<int>(kTile) / R;
  const float* x[R];
  f32x16 acc[R];
  for (int r = 0; r < R; ++r) {
    x[r] = static_cast<const float*>(args.in) + (row + static_cast<uint64_t>(r)) * args.n_in;
    acc[r] = splat(0.0f);
  }
  uint64_t k = 0;
  for (; k + kAtOnce * kBlock <= args.n_in; k += kAtOnce * kBlock) {
    add_blocks<R, kAtOnce>(w, x, k, kBlock, acc);
  }
  for (; k + kBlock <= args.n_in; k += kBlock) add_blocks<R, 1>(w, x, k, kBlock, acc);
  if (k < args.n_in) add_blocks<R, 1>(w, x, k, args.n_in - k, acc);

  const uint64_t first = panel * kLanes;
  const uint64_t lanes = args.n_out - first < kLanes ? args.n_out - first : kLanes;
  for (int r = 0; r < R; ++r) {
    const f32x16 value = args.bias != nullptr ? add(acc[r], load(args.bias + first)) : acc[r];
    store_first(args.out + (row + static_cast<uint64_t>(r)) * args.n_out + first, value, lanes);
  }
}

}  // namespace

void matmul_f32(const MatmulArgs& args, Range panels) {
  for (uint64_t panel = panels.begin; panel < panels.end; ++panel) {
    const float* w = panel_values(args, panel);
    uint64_t row = 0;
    for (; row + kTile <= args.n_rows; row += kTile) rows<kTile>(args, w, panel, row);
    if (args.n_rows - row >= 2) {
      rows<2>(args, w, panel, row);
      row += 2;
    }
    if (row < args.n_rows) rows<1>(args, w, panel, row);
  }
}

}  // namespace plumbline::cpu
