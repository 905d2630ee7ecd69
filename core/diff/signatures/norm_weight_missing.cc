// The weight is not applied.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  NormParameters how = suspect.norm();
  how.weight.clear();
  return {{std::string(suspect.name()) + " leaves the weight out",
           [=, &suspect](const OpInputs& inputs, const Matrix&) {
             return suspect.normed(inputs, how);
           }}};
}

}  // namespace

Signature norm_weight_missing() {
  return {"norm_weight_missing", {PLUMB_OP_RMS_NORM}, hypotheses};
}

}  // namespace plumbline::diff::signatures
