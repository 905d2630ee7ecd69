// Gemma's formula applied to weights that hold its 1 already.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  auto how = suspect.norm();
  how.weight_offset = 1;
  return {variant(suspect, "multiplies by 1 + weight, the model says by the weight", how)};
}

}  // namespace

Signature norm_weight_plus_one() {
  return {"norm_weight_plus_one", {PLUMB_OP_RMS_NORM}, hypotheses};
}

}  // namespace plumbline::diff::signatures
