// Weights stored without the 1 that Gemma's formula adds, or added once more.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  NormParameters how = suspect.norm();
  how.weight_offset = 1;
  return {{std::string(suspect.name()) + " multiplies by 1 + weight, the model says by the weight",
           [=, &suspect](const OpInputs& inputs, const Matrix&) {
             return suspect.normed(inputs, how);
           }}};
}

}  // namespace

Signature norm_weight_plus_one() {
  return {"norm_weight_plus_one", {PLUMB_OP_RMS_NORM}, hypotheses};
}

}  // namespace plumbline::diff::signatures
