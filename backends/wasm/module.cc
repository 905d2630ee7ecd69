// module.cc: the module's two exports: the kernels, and what they were compiled for.
#include "backends/cpu/kernels/functions.h"
#include "backends/wasm/module_layout.h"

extern "C" {

__attribute__((export_name("call"))) uint32_t plumb_wasm_call(uint32_t kernel, const void* args,
                                                              uint64_t begin, uint64_t end) {
  namespace cpu = plumbline::cpu;
  return static_cast<uint32_t>(
      cpu::PLUMB_CPU_VARIANT::call(static_cast<cpu::Kernel>(kernel), args, {begin, end}));
}

__attribute__((export_name("layout"))) uint32_t plumb_wasm_layout() {
  return plumbline::wasm::kArgsLayout;
}

}  // extern "C"
