/* The two loops that cost time. Class canonical-1: the bits are those that this order of operations
 * gives. */
#include <math.h>
#include <string.h>

#include "kernels.h"

/* Exact in any order: at most 32 * 127 * 128. */
static int32_t dot(const int8_t* a, const int8_t* b) {
  int32_t sum = 0;
  for (int i = 0; i < PLUMB_QK; ++i) sum += a[i] * b[i];
  return sum;
}

void matmul(const block* weight, const block* in, const float* bias, uint64_t n_rows, uint64_t n_in,
            uint64_t n_out, uint64_t first, uint64_t last, float* out) {
  const uint64_t n_blocks = n_in / PLUMB_QK;
  for (uint64_t n = first; n < last; ++n) {
    const block* w = weight + n * n_blocks;
    for (uint64_t t = 0; t < n_rows; ++t) {
      const block* x = in + t * n_blocks;
      float sum = 0;
      for (uint64_t b = 0; b < n_blocks; ++b) {
        sum += (w[b].scale * x[b].scale) * (float)dot(w[b].codes, x[b].codes);
      }
      out[t * n_out + n] = bias == NULL ? sum : sum + bias[n];
    }
  }
}

int quantize(const float* in, block* out) {
  float largest = 0;
  for (int i = 0; i < PLUMB_QK; ++i) {
    if (!isfinite(in[i])) return 0;
    if (fabsf(in[i]) > largest) largest = fabsf(in[i]);
  }
  memset(out, 0, sizeof *out);
  if (largest < 0x1p-100f) return 1;
  const float inverse = 127 / largest;
  out->scale = largest / 127;
  for (int i = 0; i < PLUMB_QK; ++i) out->codes[i] = (int8_t)lrintf(in[i] * inverse);
  return 1;
}
