// naive_canonical.h: the rules of core/doc/numerics.md as loops over a file's own blocks, written
// from the text alone: no layout, no lanes of a kernel. Kernels of one source that agree with each
// other could still all be wrong.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/support/kernels_harness.h"

namespace plumbline::test {

/// Rule 2. Codes and scales of rows of quantised activations.
struct NaiveActivations {
  std::vector<int> codes;  // [T][width]
  std::vector<float> scales;  // [T][width/32]
};
NaiveActivations naive_quantize(const std::vector<float>& x);

/// Rules 1 and 3: out f32[T,N] of a quantised W[N,K].
std::vector<float> naive_matmul_q8(const HostTensor& weight, const NaiveActivations& x,
                                   uint64_t n_rows);
/// Rules 1 and 4.
std::vector<float> naive_matmul_f32(const HostTensor& weight, const std::vector<float>& x,
                                    uint64_t n_rows);

/// Rule 5.
std::vector<float> naive_rms_norm(const std::vector<float>& x, const std::vector<float>& weight,
                                  float epsilon);
std::vector<float> naive_layer_norm(const std::vector<float>& x, const std::vector<float>& weight,
                                    const std::vector<float>& bias, float epsilon);

/// Rule 6, causal over positions 0, 1, 2, ...: q f32[T,H,C] are the last T of the S rows of k, v
/// f32[S,K,C].
struct NaiveAttention {
  uint64_t n_rows, n_rows_kv, n_heads, n_heads_kv, head_width;
  float scale, softcap;
};
std::vector<float> naive_attend(const NaiveAttention& shape, const std::vector<float>& q,
                                const std::vector<float>& k, const std::vector<float>& v);

}  // namespace plumbline::test
