// processor.h: what the operating system tells of processors.
#pragma once

#include <cstdint>

namespace plumbline::os {

/// Processors that this process may run on (its affinity mask), at least 1.
uint32_t n_processors();

/// A hint to the processor that the caller spins.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace plumbline::os
