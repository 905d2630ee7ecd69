// Query and key norms are per head; this one is over all heads at once.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  if (suspect.record().as.norm.n_groups < 2) return {};
  auto how = suspect.norm();
  how.over_whole_row = true;
  return {variant(suspect, "norms the whole row, the model says each head by itself", how)};
}

}  // namespace

Signature norm_whole_row() {
  return {"norm_whole_row", {PLUMB_OP_RMS_NORM}, hypotheses};
}

}  // namespace plumbline::diff::signatures
