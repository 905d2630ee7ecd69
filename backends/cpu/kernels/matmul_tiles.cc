// matmul_tiles.cc: quantised weights times many rows of quantised activations. A panel or two are
// unpacked, a chunk of their columns at a time that stays in the first-level cache; then tiles of
// panels and rows are kept in registers. The sums of a chunk wait in `out` for the next one. Lane =
// output row; blocks are added in order.
#include "backends/cpu/kernels/dots.h"
#include "backends/cpu/kernels/functions.h"

namespace plumbline::cpu::PLUMB_CPU_VARIANT {
namespace {

/// The codes of an unpacked block. Where products of bytes are one instruction, all formats become
/// bytes; 2- and 3-bit codes are multiplied by their scales at once: sc * code of Q2_K is at most
/// 45, and -sc * (code - 4) of Q3_K is in -128..124.
constexpr bool takes_scales(const Layout& layout) {
  return kByteDots && layout.halves() && layout.bits() <= 3;
}
constexpr Form unpacked_form(const Layout& layout) {
  Form form = form_of(layout);
  if (kByteDots) form.bits = 8;
  if (kByteDots && form.minimum == Minimum::kNone) form.offset = kByteBias;
  if (takes_scales(layout)) form.halves = false;
  return form;
}

template <Form F>
struct Unpacked {
  Scaling<F> scaling;
  alignas(64) uint8_t quads[8 * kQuads];
};

template <Layout L>
PLUMB_INLINE void unpack_block(const uint8_t* head, const uint8_t* block,
                               Unpacked<unpacked_form(L)>* out) {
  constexpr Form F = unpacked_form(L);
  auto s = block_scales<L>(head, block);
  [[maybe_unused]] i32x16 sc[2];
  if constexpr (takes_scales(L)) {
    sc[0] = evens(s.scale);
    sc[1] = odds(s.scale);
    if constexpr (L.offset != 0) {
      for (int half = 0; half < 2; ++half) sc[half] = sub(splat(int32_t{0}), sc[half]);
      s.d = sub(splat(0.0f), s.d);
    }
  }
  out->scaling = scaling<F>(s);
  PLUMB_UNROLL(8)
  for (int group = 0; group < 8; ++group) {
    quads w = codes<L>(block + L.scale_bytes(), group);
    if constexpr (kByteDots) {
      if constexpr (takes_scales(L)) {
        if constexpr (L.offset != 0) w = add(w, -L.offset);
        w = mul(w, sc[group / 4]);
        if constexpr (F.offset != 0) w = add(w, F.offset);
      } else if constexpr (F.offset != L.offset) {
        w = add(w, F.offset - L.offset);
      }
    }
    store_quads(out->quads + kQuads * group, w);
  }
}

/// Blocks [first, first + n) of a panel. The next chunk of the panel is asked for.
template <Layout L>
void unpack(const uint8_t* panel, uint64_t first, uint64_t n, Unpacked<unpacked_form(L)>* out) {
  const uint8_t* unit = panel + first / L.blocks * L.unit_bytes();
  for (uint64_t u = 0; u < n / L.blocks; ++u, unit += L.unit_bytes()) {
    for (uint64_t b = 0; b < L.blocks; ++b, ++out) {
      const uint8_t* block = unit + L.head_bytes() + b * L.block_bytes();
      for (uint64_t line = 0; line < L.block_bytes(); line += 64)
        __builtin_prefetch(block + kChunkBlocks * L.block_bytes() + line);
      unpack_block<L>(unit, block, out);
    }
  }
}

/// One chunk of columns.
struct Chunk {
  uint64_t first, n;  // blocks
  bool is_first, is_last;
};

template <Form F, int P, int N>
void tile(const MatmulArgs& args, const Unpacked<F>* unpacked, const Chunk& chunk, uint64_t panel,
          uint64_t row) {
  const Rows<N> rows(args, row);
  f32x16 acc[P][N] = {};
  if (!chunk.is_first) {
    PLUMB_UNROLL(8)
    for (int n = 0; n < N; ++n) {
      PLUMB_UNROLL(2)
      for (int p = 0; p < P; ++p) {
        acc[p][n] =
            read_panel(args, row + static_cast<uint64_t>(n), panel + static_cast<uint64_t>(p));
      }
    }
  }
  for (uint64_t b = 0; b < chunk.n; ++b) {
    const Unpacked<F>* block = unpacked + b;
    const uint64_t index = chunk.first + b;
    // The next rows, N further on.
    for (int n = 0; n < N; ++n) __builtin_prefetch(rows.row[n] + index + N * (args.n_in / kBlock));
    const Scaling<F>* s[P];
    PLUMB_UNROLL(2)
    for (int p = 0; p < P; ++p) s[p] = &block[static_cast<uint64_t>(p) * kChunkBlocks].scaling;
    const auto codes_of = [block](int p, int group) __attribute__((always_inline)) {
      return load_quads(block[static_cast<uint64_t>(p) * kChunkBlocks].quads + kQuads * group);
    };
    f32x16 dot[P][N];
    dots<F, P, N>(codes_of, s, rows, index, dot);
    PLUMB_UNROLL(8)
    for (int n = 0; n < N; ++n) {
      PLUMB_UNROLL(2)
      for (int p = 0; p < P; ++p)
        acc[p][n] = add_term<F>(acc[p][n], *s[p], rows.row[n][index], dot[p][n]);
    }
  }
  PLUMB_UNROLL(8)
  for (int n = 0; n < N; ++n) {
    PLUMB_UNROLL(2)
    for (int p = 0; p < P; ++p) {
      write_panel(args, row + static_cast<uint64_t>(n), panel + static_cast<uint64_t>(p), acc[p][n],
                  chunk.is_last);
    }
  }
}

template <Layout L, uint64_t P>
void some_panels(const MatmulArgs& args, uint64_t panel) {
  constexpr Form F = unpacked_form(L);
  static_assert(sizeof(Unpacked<F>) <= kUnpackedBytes);
  auto* unpacked = reinterpret_cast<Unpacked<F>*>(static_cast<uint8_t*>(args.scratch));
  const uint64_t n_blocks = args.n_in / kBlock;
  const uint64_t panel_bytes = args.n_in / L.unit_values() * L.unit_bytes();
  // Chunks of about the same size: a short one would be all beginning and end.
  const uint64_t most = kChunkBlocks / L.blocks * L.blocks;
  const uint64_t n_chunks = (n_blocks + most - 1) / most;
  const uint64_t step = (n_blocks / L.blocks + n_chunks - 1) / n_chunks * L.blocks;
  for (uint64_t first = 0; first < n_blocks; first += step) {
    const uint64_t n = n_blocks - first < step ? n_blocks - first : step;
    const Chunk chunk{first, n, first == 0, first + n == n_blocks};
    for (uint64_t p = 0; p < P; ++p) {
      unpack<L>(args.weight + (panel + p) * panel_bytes, first, n, unpacked + p * kChunkBlocks);
    }
    uint64_t row = 0;
    for (; row + kTile <= args.n_rows; row += kTile) {
      tile<F, P, kTile>(args, unpacked, chunk, panel, row);
    }
    if (args.n_rows - row >= 2) {
      tile<F, P, 2>(args, unpacked, chunk, panel, row);
      row += 2;
    }
    if (row < args.n_rows) tile<F, P, 1>(args, unpacked, chunk, panel, row);
  }
}

}  // namespace

void matmul_q8_tiles(const MatmulArgs& args, Range panels) {
  with_layout(args.format, [&]<Layout L>() {
    uint64_t panel = panels.begin;
    if constexpr (kRegisters >= 32) {
      for (; panel + kPanels <= panels.end; panel += kPanels) some_panels<L, kPanels>(args, panel);
    }
    for (; panel < panels.end; ++panel) some_panels<L, 1>(args, panel);
  });
}

}  // namespace plumbline::cpu::PLUMB_CPU_VARIANT
