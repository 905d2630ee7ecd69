// plumb.cpu.<isa>: canonical kernels, one library for each instruction set. This file knows none of
// them.
#include <string_view>

#include "plumb/sdk/abi.h"
#include "plumb/sdk/entry.h"
#include "probe.h"
#include "table.h"

namespace plumbline::cpu {
namespace {

plumb_status probe(plumb_error* error) {
  const char* missing = missing_feature();
  if (missing == nullptr) return PLUMB_OK;
  return failf(error, PLUMB_UNSUPPORTED, "this machine has no %s", missing);
}

int32_t rank() {
  return preference();
}

const void* extension(plumb_str id) {
  return to_view(id) == PLUMB_EXT_KERNELS ? &kKernels : nullptr;
}

}  // namespace
}  // namespace plumbline::cpu

PLUMB_DEFINE_PLUGIN(plumbline::cpu::probe, plumbline::cpu::rank, plumbline::cpu::extension)
