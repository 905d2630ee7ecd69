// Another function of those that models use.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::string name_of(uint32_t function) {
  return function == PLUMB_ACT_SILU        ? "SiLU"
         : function == PLUMB_ACT_GELU_TANH ? "GELU (tanh)"
                                           : "GELU (erf)";
}

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  const uint32_t right = suspect.record().as.elementwise.function;
  std::vector<Hypothesis> found;
  for (const uint32_t function : {PLUMB_ACT_SILU, PLUMB_ACT_GELU_TANH, PLUMB_ACT_GELU_ERF}) {
    if (function == right) continue;
    found.push_back(variant(
        suspect, "computes " + name_of(function) + ", the model says " + name_of(right),
        [=](const OpInputs& inputs) {
          const Matrix b = inputs.size() > 1 ? matrix_of(inputs[1]) : Matrix();
          return elementwise(matrix_of(inputs[0]), b,
                             [=](double x, double y) { return activation(function, x) * y; });
        }));
  }
  return found;
}

}  // namespace

Signature activation_wrong() {
  return {"activation_wrong", {PLUMB_OP_ACTIVATE}, hypotheses};
}

}  // namespace plumbline::diff::signatures
