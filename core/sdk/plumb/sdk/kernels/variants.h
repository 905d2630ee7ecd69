// variants.h: the variants of a kernels plugin, for hosts, tests and benchmarks.
#pragma once

#include <string>
#include <vector>

#include "plumb/ext/kernels.h"
#include "plumb/sdk/abi.h"

namespace plumbline {

/// One variant, and whether this machine can run it.
struct KernelsVariant {
  std::string name;
  std::string missing;  // what the machine lacks; empty: it can run
};

/// Best first; none where the plugin has no variants. A plugin that never says that it is done is
/// cut off.
inline std::vector<KernelsVariant> variants_of(const plumb_kernels& table) {
  constexpr uint32_t kMost = 64;
  std::vector<KernelsVariant> variants;
  if (!PLUMB_HAS(&table, plumb_kernels, variant) || table.variant == nullptr) return variants;
  for (uint32_t index = 0; index < kMost; ++index) {
    ErrorBuffer error;
    plumb_str name{};
    const plumb_status status = table.variant(index, &name, error);
    if (status != PLUMB_OK && status != PLUMB_UNSUPPORTED) break;
    variants.push_back(
        {to_string(name), status == PLUMB_OK ? std::string() : error.take(status).message});
  }
  return variants;
}

}  // namespace plumbline
