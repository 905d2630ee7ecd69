#include "roofline.h"

#include <sys/mman.h>

#include <chrono>
#include <cstring>
#include <new>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace plumbline::bench {
namespace {

constexpr uint64_t kStreamBytes = uint64_t{192} << 20;  // far beyond a last-level cache

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

const uint64_t* stream() {
  static uint64_t* const memory = [] {
    void* pages =
        mmap(nullptr, kStreamBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    madvise(pages, kStreamBytes, MADV_HUGEPAGE);
    std::memset(pages, 1, kStreamBytes);
    return static_cast<uint64_t*>(pages);
  }();
  return memory;
}

#if defined(__x86_64__)

constexpr int kChains = 12;  // sums that do not wait for each other
constexpr int kSteps = 200000;

/// Runs `step` on kChains registers over and over.
#define PLUMB_PEAK(name, target_flags, Register, zero, step)                  \
  __attribute__((target(target_flags))) void name() {                         \
    Register sum[kChains];                                                    \
    Register w = zero;                                                        \
    Register a = zero;                                                        \
    asm volatile("" : "+v"(w), "+v"(a));                                      \
    _Pragma("GCC unroll 12") for (int i = 0; i < kChains; ++i) sum[i] = zero; \
    for (int n = 0; n < kSteps; ++n) {                                        \
      _Pragma("GCC unroll 12") for (int i = 0; i < kChains; ++i) {            \
        sum[i] = step;                                                        \
        asm volatile("" : "+v"(sum[i]), "+v"(a));                             \
      }                                                                       \
    }                                                                         \
  }

PLUMB_PEAK(bytes_avx2, "avx2", __m256i, _mm256_setzero_si256(),
           _mm256_add_epi16(sum[i], _mm256_maddubs_epi16(w, a)))
PLUMB_PEAK(bytes_avx2_vnni, "avx2,avxvnni", __m256i, _mm256_setzero_si256(),
           _mm256_dpbusd_avx_epi32(sum[i], w, a))
PLUMB_PEAK(bytes_avx512, "avx512f,avx512bw", __m512i, _mm512_setzero_si512(),
           _mm512_add_epi16(sum[i], _mm512_maddubs_epi16(w, a)))
PLUMB_PEAK(bytes_avx512_vnni, "avx512f,avx512vnni", __m512i, _mm512_setzero_si512(),
           _mm512_dpbusd_epi32(sum[i], w, a))
PLUMB_PEAK(floats_avx2, "avx2", __m256, _mm256_setzero_ps(),
           _mm256_add_ps(sum[i], _mm256_mul_ps(w, a)))
PLUMB_PEAK(floats_avx512, "avx512f", __m512, _mm512_setzero_ps(),
           _mm512_add_ps(sum[i], _mm512_mul_ps(w, a)))

struct Peak {
  std::string_view variant;
  void (*bytes)();
  void (*floats)();
  int register_bytes;
};
constexpr Peak kPeaks[] = {
    {"avx2", bytes_avx2, floats_avx2, 32},
    {"avx2_vnni", bytes_avx2_vnni, floats_avx2, 32},
    {"avx512", bytes_avx512, floats_avx512, 64},
    {"avx512_vnni", bytes_avx512_vnni, floats_avx512, 64},
};

#endif

}  // namespace

double read_bytes_per_s(uint32_t part, uint32_t n_parts) {
  const uint64_t n = kStreamBytes / sizeof(uint64_t) / n_parts / 8 * 8;
  const uint64_t* from = stream() + n * part;
  const auto start = std::chrono::steady_clock::now();
  uint64_t sums[8] = {};
  for (uint64_t i = 0; i < n; i += 8) {
    // As the kernels do: 8 KiB ahead. Plain loads alone read a quarter less on Zen 5.
    __builtin_prefetch(from + i + 1024);
    for (uint64_t j = 0; j < 8; ++j) sums[j] += from[i + j];
  }
  asm volatile("" : : "r"(sums) : "memory");
  return static_cast<double>(n * sizeof(uint64_t)) / seconds_since(start);
}

double peak_macs_per_s([[maybe_unused]] std::string_view variant, [[maybe_unused]] bool quantised) {
#if defined(__x86_64__)
  for (const Peak& peak : kPeaks) {
    if (peak.variant != variant) continue;
    const auto start = std::chrono::steady_clock::now();
    quantised ? peak.bytes() : peak.floats();
    const int macs = quantised ? peak.register_bytes : peak.register_bytes / 4;
    return double{kSteps} * kChains * macs / seconds_since(start);
  }
#endif
  return 0;
}

}  // namespace plumbline::bench
