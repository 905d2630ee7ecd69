// embed.cc: single rows out of a prepared matrix.
#include "backends/cpu/kernels/functions.h"
#include "backends/cpu/kernels/panel.h"

namespace plumbline::cpu::PLUMB_CPU_VARIANT {
namespace {

/// Lane `lane` of a panel of plain numbers.
void plain_row(const Layout& layout, const uint8_t* panel, uint64_t width, uint64_t lane,
               float* out) {
  float values[kLanes];
  for (uint64_t k = 0; k < width; ++k, panel += layout.unit_bytes()) {
    if (layout.format == PLUMB_F32) {
      __builtin_memcpy(out + k, panel + lane * sizeof(float), sizeof(float));
      continue;
    }
    store(values, layout.format == PLUMB_F16 ? from_f16(panel) : from_bf16(panel));
    out[k] = values[lane];
  }
}

/// Dequantises whole blocks, so that each value is the one that matmul_f32 sees, and keeps one
/// lane.
template <Layout L>
void block_row(const uint8_t* panel, uint64_t width, uint64_t lane, float* out) {
  alignas(64) float values[kBlock * kLanes];
  for (uint64_t u = 0; u < width / L.unit_values(); ++u, panel += L.unit_bytes()) {
    for (uint64_t b = 0; b < L.blocks; ++b, out += kBlock) {
      dequantise_block<L>(panel, panel + L.head_bytes() + b * L.block_bytes(), values);
      for (uint64_t k = 0; k < kBlock; ++k) out[k] = values[k * kLanes + lane];
    }
  }
}

}  // namespace

Outcome embed(const EmbedArgs& args, Range rows) {
  const Layout& layout = *find_layout(args.format);
  const uint64_t panel_bytes = args.width / layout.unit_values() * layout.unit_bytes();
  for (uint64_t t = rows.begin; t < rows.end; ++t) {
    const auto id = static_cast<uint64_t>(args.ids[t]);
    const uint8_t* panel = args.weight + id / kLanes * panel_bytes;
    float* to = args.out + t * args.width;
    if (layout.plain()) {
      plain_row(layout, panel, args.width, id % kLanes, to);
    } else {
      with_layout(args.format,
                  [&]<Layout L>() { block_row<L>(panel, args.width, id % kLanes, to); });
    }
  }
  return Outcome::kDone;
}

}  // namespace plumbline::cpu::PLUMB_CPU_VARIANT
