// Embeddings are not scaled: Gemma multiplies them by the root of the width.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  return {variant(
      suspect,
      "does not scale, the model says by " + text_of(suspect.record().as.elementwise.parameter),
      [](const OpInputs& inputs) { return matrix_of(inputs[0]); })};
}

}  // namespace

Signature embedding_scale_missing() {
  return {"embedding_scale_missing", {PLUMB_OP_SCALE}, hypotheses};
}

}  // namespace plumbline::diff::signatures
