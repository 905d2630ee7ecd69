// module_layout.h: what host and module must have compiled alike. Seen by both.
#pragma once

#include "backends/cpu/kernels/kernels.h"

namespace plumbline::wasm {

/// A number for the layout of all arguments: FNV-1a of their sizes and counts of addresses.
template <typename... Args>
constexpr uint32_t layout_of() {
  const uint64_t words[] = {cpu::kUnpackedBytes, sizeof(Args)..., Args::kRefs...,
                            static_cast<uint64_t>(Args::kKernel)...};
  uint32_t hash = 2166136261u;
  for (const uint64_t word : words) hash = (hash ^ static_cast<uint32_t>(word)) * 16777619u;
  return hash;
}

inline constexpr uint32_t kArgsLayout =
    layout_of<cpu::EmbedArgs, cpu::NormArgs, cpu::QuantizeArgs, cpu::MatmulArgs, cpu::RopeArgs,
              cpu::KvWriteArgs, cpu::KvReadArgs, cpu::AttendArgs, cpu::ElementwiseArgs,
              cpu::ArgmaxArgs>();

}  // namespace plumbline::wasm
