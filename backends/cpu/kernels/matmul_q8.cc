// matmul_q8.cc: quantised weights times quantised activations. Lane = output row; blocks are added
// in order. Many rows go to matmul_tiles.cc.
#include "backends/cpu/kernels/dots.h"
#include "backends/cpu/kernels/functions.h"

namespace plumbline::cpu::PLUMB_CPU_VARIANT {
namespace {

/// Weights are asked for this long before they are used: the processor's own prefetching loses its
/// lead while it waits for arithmetic. Measured on Zen 5, one core, GB/s at 0, 2 and 8 KiB: Q4_1
/// 33, 34, 40; Q5_K 20, 29, 36; Q6_K 24, 32, 40.
constexpr uint64_t kAheadBytes = 8192;

/// A panel and N rows: codes go from the prepared block to the products without a stop.
template <Layout L, int N>
void few_rows(const MatmulArgs& args, uint64_t panel, uint64_t row) {
  constexpr Form F = form_of(L);
  const Rows<N> rows(args, row);
  const uint64_t n_units = args.n_in / L.unit_values();
  const uint8_t* unit = args.weight + panel * n_units * L.unit_bytes();
  f32x16 acc[N] = {};
  for (uint64_t u = 0; u < n_units; ++u, unit += L.unit_bytes()) {
    for (uint64_t b = 0; b < L.blocks; ++b) {
      const uint8_t* block = unit + L.head_bytes() + b * L.block_bytes();
      const uint8_t* planes = block + L.scale_bytes();
      for (uint64_t line = 0; line < L.block_bytes(); line += 64)
        __builtin_prefetch(block + kAheadBytes + line);
      const Scaling<F> s = scaling<F>(block_scales<L>(unit, block));
      const Scaling<F>* const each[1] = {&s};
      const uint64_t index = u * L.blocks + b;
      f32x16 dot[1][N];
      const auto codes_of = [planes](int, int group) __attribute__((always_inline)) {
        const quads w = codes<L>(planes, group);
        return L.is_signed() && kByteBias != 0 ? add(w, kByteBias) : w;
      };
      dots<F, 1, N>(codes_of, each, rows, index, dot);
      PLUMB_UNROLL(4)
      for (int n = 0; n < N; ++n) acc[n] = add_term<F>(acc[n], s, rows.row[n][index], dot[0][n]);
    }
  }
  for (int n = 0; n < N; ++n)
    write_panel(args, row + static_cast<uint64_t>(n), panel, acc[n], true);
}

/// From so many rows on, unpacking a panel pays.
constexpr uint64_t kManyRows = 16;

}  // namespace

void matmul_q8(const MatmulArgs& args, Range panels) {
  if (args.n_rows >= kManyRows) return matmul_q8_tiles(args, panels);
  with_layout(args.format, [&]<Layout L>() {
    for (uint64_t panel = panels.begin; panel < panels.end; ++panel) {
      uint64_t row = 0;
      for (; row + 4 <= args.n_rows; row += 4) few_rows<L, 4>(args, panel, row);
      for (; row + 2 <= args.n_rows; row += 2) few_rows<L, 2>(args, panel, row);
      if (row < args.n_rows) few_rows<L, 1>(args, panel, row);
    }
  });
}

}  // namespace plumbline::cpu::PLUMB_CPU_VARIANT
