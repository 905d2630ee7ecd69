// Scores are not scaled.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  auto how = suspect.attention();
  how.scale = 1;
  return {variant(
      suspect,
      "does not scale the scores, the model says by " + text_of(suspect.record().as.attend.scale),
      how)};
}

}  // namespace

Signature attention_scale_missing() {
  return {"attention_scale_missing", {PLUMB_OP_ATTEND}, hypotheses};
}

}  // namespace plumbline::diff::signatures
