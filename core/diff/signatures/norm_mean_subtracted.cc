// LayerNorm where RMSNorm is meant.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  auto how = suspect.norm();
  how.subtracts_mean = true;
  return {variant(suspect, "subtracts the mean (LayerNorm), the model says RMSNorm", how)};
}

}  // namespace

Signature norm_mean_subtracted() {
  return {"norm_mean_subtracted", {PLUMB_OP_RMS_NORM}, hypotheses};
}

}  // namespace plumbline::diff::signatures
