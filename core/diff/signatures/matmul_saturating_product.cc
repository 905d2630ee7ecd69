// Pairs of products are added in 16 bits that saturate: vpmaddubsw on weights as unsigned bytes,
// 128 too large.
#include <algorithm>
#include <cstring>

#include "core/diff/signatures/signature.h"
#include "plumb/sdk/blocks.h"

namespace plumbline::diff::signatures {
namespace {

/// 128 times the codes' sum is taken off again.
double saturated_dot(const plumb_block_q8_0& w, const int8_t* codes) {
  int64_t sum = 0;
  for (int i = 0; i < PLUMB_QK; i += 2) {
    const int32_t pair = (w.qs[i] + 128) * codes[i] + (w.qs[i + 1] + 128) * codes[i + 1];
    sum += std::clamp<int32_t>(pair, INT16_MIN, INT16_MAX) - 128 * (codes[i] + codes[i + 1]);
  }
  return static_cast<double>(sum);
}

Matrix saturated(const Suspect& suspect, const OpInputs& inputs) {
  const ProductParameters how = suspect.product();
  const QuantisedRows x = quantise_rows(inputs[0]);
  const size_t n_blocks = x.width / PLUMB_QK;
  Matrix out(x.n_rows, suspect.columns().size());
  for (size_t i = 0; i < out.width; ++i) {
    const uint32_t n = suspect.columns()[i];
    for (size_t b = 0; b < n_blocks; ++b) {
      plumb_block_q8_0 w;
      std::memcpy(&w, suspect.weight()->data.data + (n * n_blocks + b) * sizeof w, sizeof w);
      for (size_t t = 0; t < x.n_rows; ++t) {
        const size_t block = t * n_blocks + b;
        out.row(t)[i] += double{f16_to_f32(w.d)} * x.scales[block] *
                         saturated_dot(w, &x.codes[block * PLUMB_QK]);
      }
    }
    for (size_t t = 0; t < x.n_rows && !how.bias.empty(); ++t) out.row(t)[i] += how.bias[n];
  }
  return out;
}

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  if (!suspect.product().is_quantised || suspect.weight()->format != PLUMB_Q8_0) return {};
  return {variant(suspect, "adds pairs of integer products in 16 bits, which saturate",
                  [&suspect](const OpInputs& inputs) { return saturated(suspect, inputs); })};
}

}  // namespace

Signature matmul_saturating_product() {
  return {"matmul_saturating_product", {PLUMB_OP_MATMUL}, hypotheses};
}

}  // namespace plumbline::diff::signatures
