// The epsilon is added to the root.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  NormParameters how = suspect.norm();
  how.epsilon_outside_root = true;
  return {{std::string(suspect.name()) + " adds epsilon to the root, the model says under it",
           [=, &suspect](const OpInputs& inputs, const Matrix&) {
             return suspect.normed(inputs, how);
           }}};
}

}  // namespace

Signature norm_epsilon_outside_root() {
  return {"norm_epsilon_outside_root", {PLUMB_OP_RMS_NORM}, hypotheses};
}

}  // namespace plumbline::diff::signatures
