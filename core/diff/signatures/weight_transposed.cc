// A square matrix read by columns.
#include <memory>

#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  constexpr uint64_t kLargest = 4096;
  const WeightRows right = rows_of(*suspect.weight());
  if (right.n_rows != right.width || right.width > kLargest) return {};
  const auto values = std::make_shared<const std::vector<float>>(values_of(right));
  WeightRows turned = right;
  turned.read = [=](uint64_t row, float* out) {
    for (uint64_t i = 0; i < right.width; ++i) out[i] = (*values)[i * right.width + row];
  };
  return {variant(suspect, "multiplies with the matrix transposed", turned)};
}

}  // namespace

Signature weight_transposed() {
  return {"weight_transposed", {PLUMB_OP_MATMUL}, hypotheses};
}

}  // namespace plumbline::diff::signatures
