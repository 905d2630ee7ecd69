// module_layout.h: what host and module must have compiled alike. Seen by both.
#pragma once

#include "backends/cpu/kernels/kernels.h"

namespace plumbline::wasm {

/// A number for the layout of all arguments and of the memory behind them: FNV-1a of their sizes
/// and counts of addresses, and of what sizes scratch and weights.
template <typename... Args>
constexpr uint32_t layout_of() {
  const uint64_t words[] = {cpu::kTile,
                            cpu::kQueryTile,
                            cpu::kPanels,
                            cpu::kChunkBlocks,
                            cpu::kUnpackedBytes,
                            cpu::kChunkColumns,
                            cpu::kFactorBytes,
                            cpu::kFactorRows,
                            sizeof(Args)...,
                            Args::kRefs...,
                            static_cast<uint64_t>(Args::kKernel)...};
  uint32_t hash = 2166136261u;
  const auto add = [&hash](uint64_t word) {
    hash = (hash ^ static_cast<uint32_t>(word)) * 16777619u;
  };
  for (const uint64_t word : words) add(word);
  for (const cpu::Layout& layout : cpu::kLayouts) {
    add(static_cast<uint64_t>(layout.format));
    add(layout.unit_bytes());
    add(layout.unit_values());
  }
  return hash;
}

inline constexpr uint32_t kArgsLayout =
    layout_of<cpu::EmbedArgs, cpu::NormArgs, cpu::QuantizeArgs, cpu::MatmulArgs, cpu::RopeArgs,
              cpu::KvWriteArgs, cpu::KvReadArgs, cpu::AttendArgs, cpu::ElementwiseArgs,
              cpu::ArgmaxArgs>();

}  // namespace plumbline::wasm
