// The two halves of a gated unit in the other order.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  if (suspect.inputs().size() < 2) return {};
  const uint32_t function = suspect.record().as.elementwise.function;
  return {variant(
      suspect, "computes f(up) * gate, the model says f(gate) * up", [=](const OpInputs& inputs) {
        return elementwise(matrix_of(inputs[1]), matrix_of(inputs[0]),
                           [=](double x, double y) { return activation(function, x) * y; });
      })};
}

}  // namespace

Signature gate_and_up_swapped() {
  return {"gate_and_up_swapped", {PLUMB_OP_ACTIVATE}, hypotheses};
}

}  // namespace plumbline::diff::signatures
