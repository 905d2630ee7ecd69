// A row of activations is quantised with one scale instead of one for each block.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  if (!suspect.product().is_quantised) return {};
  return {variant(suspect,
                  "quantises a row of activations with one scale, the model says 32 values",
                  [&suspect](const OpInputs& inputs) {
                    const ProductParameters how = suspect.product();
                    const Matrix x = matrix_of(quantise_rows(inputs[0], inputs[0].shape.width));
                    return matmul(x, how.weight, how.bias, suspect.columns());
                  })};
}

}  // namespace

Signature activation_scale_shared() {
  return {"activation_scale_shared", {PLUMB_OP_MATMUL}, hypotheses};
}

}  // namespace plumbline::diff::signatures
