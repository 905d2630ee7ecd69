// The norm is left out: a model with norms elsewhere.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  return {variant(suspect, "does not norm",
                  [](const OpInputs& inputs) { return matrix_of(inputs[0]); })};
}

}  // namespace

Signature norm_missing() {
  return {"norm_missing", {PLUMB_OP_RMS_NORM}, hypotheses};
}

}  // namespace plumbline::diff::signatures
