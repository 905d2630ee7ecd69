// A sum without the residual stream.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  return {variant(suspect, "leaves out the residual, a of a + b",
                  [](const OpInputs& inputs) { return matrix_of(inputs[1]); })};
}

}  // namespace

Signature residual_missing() {
  return {"residual_missing", {PLUMB_OP_ADD}, hypotheses};
}

}  // namespace plumbline::diff::signatures
