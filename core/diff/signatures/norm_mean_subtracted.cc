// LayerNorm where RMSNorm is meant.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  NormParameters how = suspect.norm();
  how.subtracts_mean = true;
  return {{std::string(suspect.name()) + " subtracts the mean (LayerNorm), the model says RMSNorm",
           [=, &suspect](const OpInputs& inputs, const Matrix&) {
             return suspect.normed(inputs, how);
           }}};
}

}  // namespace

Signature norm_mean_subtracted() {
  return {"norm_mean_subtracted", {PLUMB_OP_RMS_NORM}, hypotheses};
}

}  // namespace plumbline::diff::signatures
