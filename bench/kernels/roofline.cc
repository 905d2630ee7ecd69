#include "roofline.h"

#include <chrono>
#include <cstring>
#include <stdexcept>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "core/base/bandwidth.h"
#include "core/base/os/memory.h"

namespace plumbline::bench {
namespace {

constexpr uint64_t kStreamBytes = uint64_t{192} << 20;  // far beyond a last-level cache

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

const uint64_t* stream() {
  static const os::BigBuffer memory = [] {
    auto made = os::BigBuffer::allocate(kStreamBytes);
    if (!made) throw std::runtime_error(made.error().message);
    std::memset(made->data(), 1, kStreamBytes);
    return *std::move(made);
  }();
  return static_cast<const uint64_t*>(memory.data());
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
  const uint64_t n = kStreamBytes / sizeof(uint64_t) / n_parts / 16 * 16;
  const uint64_t* from = stream() + n * part;
  const auto start = std::chrono::steady_clock::now();
  const uint64_t sum = read_words(from, n);
  asm volatile("" : : "r"(sum) : "memory");
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
