// The epsilon is added to the root.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  auto how = suspect.norm();
  how.epsilon_outside_root = true;
  return {variant(suspect, "adds epsilon to the root, the model says under it", how)};
}

}  // namespace

Signature norm_epsilon_outside_root() {
  return {"norm_epsilon_outside_root", {PLUMB_OP_RMS_NORM}, hypotheses};
}

}  // namespace plumbline::diff::signatures
