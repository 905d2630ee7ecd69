// Scores are not capped.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  if (suspect.record().as.attend.softcap == 0) return {};
  auto how = suspect.attention();
  how.softcap = 0;
  return {variant(
      suspect,
      "does not cap the scores, the model says at " + text_of(suspect.record().as.attend.softcap),
      how)};
}

}  // namespace

Signature attention_softcap_missing() {
  return {"attention_softcap_missing", {PLUMB_OP_ATTEND}, hypotheses};
}

}  // namespace plumbline::diff::signatures
