#include "core/base/bandwidth.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/base/os/memory.h"

namespace plumbline {
namespace {

constexpr uint64_t kBytes = uint64_t{512} << 20;
constexpr int kPasses = 4;
constexpr uint32_t kPartsPerThread = 4;  // no thread waits long for the last one

constexpr uint64_t kAhead = 4096 / sizeof(uint64_t);

}  // namespace

// Sixteen independent sums over 128-byte strides, and prefetches of the page ahead, which the
// processors' own prefetchers leave out: so one core reads the most.
uint64_t read_words(const uint64_t* words, uint64_t n) {
  uint64_t partial[16] = {};
  for (uint64_t i = 0; i + 16 <= n; i += 16) {
    __builtin_prefetch(words + i + kAhead);
    __builtin_prefetch(words + i + kAhead + 8);
    for (uint64_t j = 0; j < 16; ++j) partial[j] += words[i + j];
  }
  uint64_t total = 0;
  for (const uint64_t p : partial) total += p;
  return total;
}

double read_bandwidth_bytes_per_s(ThreadPool& pool) {
  auto buffer = os::BigBuffer::allocate(kBytes);
  if (!buffer) return 0;
  const uint32_t n_parts = kPartsPerThread * pool.n_threads();
  const uint64_t share = kBytes / 8 / n_parts / 16 * 16;
  auto* words = static_cast<uint64_t*>(buffer->data());
  // Written first: pages that were never touched are all one page of zeros.
  pool.run(n_parts,
           [&](uint32_t, uint32_t part) { std::memset(words + part * share, 1, 8 * share); });
  std::vector<uint64_t> totals(n_parts);
  double best = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    const auto start = std::chrono::steady_clock::now();
    pool.run(n_parts, [&](uint32_t, uint32_t part) {
      totals[part] = read_words(words + part * share, share);
    });
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    // The sums are used, so the reads cannot be left out.
    if (totals[0] == 0) return 0;
    best = std::max(best, 8.0 * static_cast<double>(share * n_parts) / elapsed.count());
  }
  return best;
}

}  // namespace plumbline
