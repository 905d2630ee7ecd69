// The two loops that cost time. Class canonical-1: the bits are those that this order of operations
// gives.
#include <algorithm>
#include <cmath>

#include "kernels.h"

namespace kernels {
namespace {

/// Exact in any order: at most 32 * 127 * 128.
int32_t dot(const int8_t* a, const int8_t* b) {
  int32_t sum = 0;
  for (int i = 0; i < PLUMB_QK; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

void matmul(const Block* weight, const Block* in, const float* bias, uint64_t n_rows, uint64_t n_in,
            uint64_t n_out, uint64_t first, uint64_t last, float* out) {
  const uint64_t n_blocks = n_in / PLUMB_QK;
  for (uint64_t n = first; n < last; ++n) {
    const Block* w = weight + n * n_blocks;
    for (uint64_t t = 0; t < n_rows; ++t) {
      const Block* x = in + t * n_blocks;
      float sum = 0;
      for (uint64_t b = 0; b < n_blocks; ++b) {
        sum += (w[b].scale * x[b].scale) * static_cast<float>(dot(w[b].codes, x[b].codes));
      }
      out[t * n_out + n] = bias == nullptr ? sum : sum + bias[n];
    }
  }
}

bool quantize(const float* in, Block& out) {
  float largest = 0;
  for (int i = 0; i < PLUMB_QK; ++i) {
    if (!std::isfinite(in[i])) return false;
    largest = std::max(largest, std::fabs(in[i]));
  }
  out = {};
  if (largest < 0x1p-100f) return true;
  const float inverse = 127 / largest;
  out.scale = largest / 127;
  for (int i = 0; i < PLUMB_QK; ++i) {
    out.codes[i] = static_cast<int8_t>(std::lrint(in[i] * inverse));
  }
  return true;
}

}  // namespace kernels
