// A sum without the branch: the layer's work is lost.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  return {variant(suspect, "leaves out the branch, b of a + b",
                  [](const OpInputs& inputs) { return matrix_of(inputs[0]); })};
}

}  // namespace

Signature branch_missing() {
  return {"branch_missing", {PLUMB_OP_ADD}, hypotheses};
}

}  // namespace plumbline::diff::signatures
