// variants.cc: the variants that are compiled into this library, and whether this machine can run
// them. Runs before anything else of the plugin, on any processor of the architecture: compiled
// without ISA flags and without LTO.
#include "engine.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace plumbline::cpu {

// PLUMB_CPU_VARIANTS: X(name) for each variant of this library, best first.
#define X(name)                                               \
  namespace name {                                            \
  Outcome call(Kernel kernel, const void* args, Range items); \
  }
PLUMB_CPU_VARIANTS
#undef X

namespace {

/// What a machine must have for a variant, and how much faster than others it is.
template <int>
struct Needs;

enum : int {
  scalar,
  avx2,
  avx2_vnni,
  avx2_fast,
  avx512,
  avx512_vnni,
  avx512_vnni_fast,
  neon,
  neon_dotprod,
};

template <>
struct Needs<scalar> {
  [[maybe_unused]] static constexpr int32_t kRank = 0;
  static const char* missing() { return nullptr; }
};

#if defined(__x86_64__)

// __builtin_cpu_supports also asks whether the operating system saves the registers.

template <>
struct Needs<avx2> {
  [[maybe_unused]] static constexpr int32_t kRank = 200;
  static const char* missing() {
    if (!__builtin_cpu_supports("avx2")) return "AVX2, or the operating system's support for it";
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & bit_F16C) == 0) return "F16C";
    return nullptr;
  }
};

template <>
struct Needs<avx2_vnni> {
  [[maybe_unused]] static constexpr int32_t kRank = 220;
  static const char* missing() {
    if (const char* feature = Needs<avx2>::missing()) return feature;
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    constexpr unsigned kAvxVnni = 1u << 4;  // leaf 7, subleaf 1, eax
    if (__get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) == 0 || (eax & kAvxVnni) == 0) {
      return "AVX-VNNI";
    }
    return nullptr;
  }
};

template <>
struct Needs<avx512> {
  [[maybe_unused]] static constexpr int32_t kRank = 210;
  static const char* missing() {
    if (const char* feature = Needs<avx2>::missing()) return feature;
    if (!__builtin_cpu_supports("avx512f")) {
      return "AVX-512, or the operating system's support for it";
    }
    if (!__builtin_cpu_supports("avx512bw")) return "AVX-512 BW";
    if (!__builtin_cpu_supports("avx512dq")) return "AVX-512 DQ";
    if (!__builtin_cpu_supports("avx512vl")) return "AVX-512 VL";
    return nullptr;
  }
};

template <>
struct Needs<avx512_vnni> {
  [[maybe_unused]] static constexpr int32_t kRank = 300;
  static const char* missing() {
    if (const char* feature = Needs<avx512>::missing()) return feature;
    return __builtin_cpu_supports("avx512vnni") ? nullptr : "AVX-512 VNNI";
  }
};

// Class fast. The rank of a library of it is the lowest: speed alone is no reason to leave the
// canonical class.
constexpr int32_t kFastRank = -100;

template <>
struct Needs<avx2_fast> {
  [[maybe_unused]] static constexpr int32_t kRank = kFastRank;
  static const char* missing() {
    if (const char* feature = Needs<avx2>::missing()) return feature;
    return __builtin_cpu_supports("fma") ? nullptr : "FMA";
  }
};

template <>
struct Needs<avx512_vnni_fast> {
  [[maybe_unused]] static constexpr int32_t kRank = kFastRank;
  static const char* missing() { return Needs<avx512_vnni>::missing(); }
};

#elif defined(__aarch64__)

template <>
struct Needs<neon> {  // part of every 64-bit ARM processor
  [[maybe_unused]] static constexpr int32_t kRank = 200;
  static const char* missing() { return nullptr; }
};

template <>
struct Needs<neon_dotprod> {
  [[maybe_unused]] static constexpr int32_t kRank = 300;
  static const char* missing() {
    return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0 ? nullptr : "the dot product instructions";
  }
};

#endif

constexpr EngineVariant kVariants[] = {
#define X(name) {#name, Needs<name>::missing, Needs<name>::kRank, cpu::name::call},
    PLUMB_CPU_VARIANTS
#undef X
};

}  // namespace

const EngineVariant* engine_variant(uint32_t index) {
  return index < sizeof kVariants / sizeof kVariants[0] ? &kVariants[index] : nullptr;
}

}  // namespace plumbline::cpu
