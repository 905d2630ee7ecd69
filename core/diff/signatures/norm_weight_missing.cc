// The weight is not applied.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  auto how = suspect.norm();
  how.weight.clear();
  return {variant(suspect, "leaves the weight out", how)};
}

}  // namespace

Signature norm_weight_missing() {
  return {"norm_weight_missing", {PLUMB_OP_RMS_NORM}, hypotheses};
}

}  // namespace plumbline::diff::signatures
