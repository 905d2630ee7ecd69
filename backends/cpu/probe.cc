// probe.cc: runs before anything else of the plugin, on any processor of the architecture: compiled
// without ISA flags and without LTO. PLUMB_CPU_ISA_* names the instruction set of the kernels
// beside it.
#include "probe.h"

#if defined(PLUMB_CPU_ISA_AVX2)
#include <cpuid.h>
#endif

namespace plumbline::cpu {

#if defined(PLUMB_CPU_ISA_SCALAR)

const char* missing_feature() {
  return nullptr;
}
int preference() {
  return 0;
}

#elif defined(PLUMB_CPU_ISA_AVX2)

const char* missing_feature() {
  // Also asks whether the operating system saves the registers, which holds for F16C too.
  if (!__builtin_cpu_supports("avx2")) return "AVX2, or the operating system's support for it";
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & bit_F16C) == 0) return "F16C";
  return nullptr;
}
int preference() {
  return 200;
}

#else
#error "no instruction set named"
#endif

}  // namespace plumbline::cpu
