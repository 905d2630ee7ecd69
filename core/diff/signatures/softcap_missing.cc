// Logits are not capped.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  return {variant(
      suspect,
      "does not cap, the model says at " + text_of(suspect.record().as.elementwise.parameter),
      [](const OpInputs& inputs) { return matrix_of(inputs[0]); })};
}

}  // namespace

Signature softcap_missing() {
  return {"softcap_missing", {PLUMB_OP_SOFTCAP}, hypotheses};
}

}  // namespace plumbline::diff::signatures
