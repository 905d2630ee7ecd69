// plumb.cpu.<isa>: kernels, one library for each instruction set. This file knows none of them.
#include <string_view>

#include "engine.h"
#include "plumb/sdk/abi.h"
#include "plumb/sdk/entry.h"
#include "table.h"

namespace plumbline::cpu {
namespace {

/// The best variant that this machine can run, or null.
const EngineVariant* best() {
  for (uint32_t i = 0; const EngineVariant* variant = engine_variant(i); ++i) {
    if (variant->missing() == nullptr) return variant;
  }
  return nullptr;
}

plumb_status probe(plumb_error* error) {
  if (best() != nullptr) return PLUMB_OK;
  uint32_t last = 0;  // the one that needs least
  while (engine_variant(last + 1) != nullptr) ++last;
  return failf(error, PLUMB_UNSUPPORTED, "this machine has no %s", engine_variant(last)->missing());
}

int32_t rank() {
  const EngineVariant* variant = best();
  return variant == nullptr ? 0 : variant->rank;
}

const void* extension(plumb_str id) {
  return to_view(id) == PLUMB_EXT_KERNELS ? &kKernels : nullptr;
}

}  // namespace
}  // namespace plumbline::cpu

PLUMB_DEFINE_PLUGIN(plumbline::cpu::probe, plumbline::cpu::rank, plumbline::cpu::extension)
