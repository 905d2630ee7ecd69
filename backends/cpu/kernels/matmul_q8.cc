// matmul_q8.cc: quantised weights times one row of quantised activations. Lane = output row; blocks
// are added in order.
#include "backends/cpu/kernels/dots.h"
#include "backends/cpu/kernels/functions.h"

namespace plumbline::cpu::PLUMB_CPU_VARIANT {
namespace {

/// Weights are asked for this long before they are used: the processor's own prefetching loses its
/// lead while it waits for arithmetic. Measured on Zen 5, one core, GB/s at 0, 2 and 8 KiB: Q4_1
/// 33, 34, 40; Q5_K 20, 29, 36; Q6_K 24, 32, 40.
constexpr uint64_t kAheadBytes = 8192;

/// Codes go from the prepared block to the product without a stop.
template <Layout L>
void one_row(const MatmulArgs& args, Range panels) {
  constexpr Form F = form_of(L);
  const Rows<1> rows(args, 0);
  const uint64_t n_units = args.n_in / L.unit_values();
  const uint8_t* unit = args.weight + panels.begin * n_units * L.unit_bytes();
  for (uint64_t panel = panels.begin; panel < panels.end; ++panel) {
    f32x16 acc = splat(0.0f);
    for (uint64_t u = 0; u < n_units; ++u, unit += L.unit_bytes()) {
      for (uint64_t b = 0; b < L.blocks; ++b) {
        const uint8_t* block = unit + L.head_bytes() + b * L.block_bytes();
        const uint8_t* planes = block + L.scale_bytes();
        for (uint64_t line = 0; line < L.block_bytes(); line += 64)
          __builtin_prefetch(block + kAheadBytes + line);
        const Scaling<F> s = scaling<F>(block_scales<L>(unit, block));
        const Scaling<F>* const each[1] = {&s};
        const uint64_t index = u * L.blocks + b;
        f32x16 dot[1][1];
        const auto codes_of = [planes](int, int group) __attribute__((always_inline)) {
          const quads w = codes<L>(planes, group);
          return L.is_signed() && kByteBias != 0 ? add(w, kByteBias) : w;
        };
        dots<F, 1, 1>(codes_of, each, rows, index, dot);
        acc = add_term<F>(acc, s, rows.row[0][index], dot[0][0]);
      }
    }
    write_panel(args, 0, panel, acc, true);
  }
}

}  // namespace

void matmul_q8(const MatmulArgs& args, Range panels) {
  if (args.n_rows != 1) return matmul_q8_tiles(args, panels);
  with_layout(args.format, [&]<Layout L>() { one_row<L>(args, panels); });
}

}  // namespace plumbline::cpu::PLUMB_CPU_VARIANT
