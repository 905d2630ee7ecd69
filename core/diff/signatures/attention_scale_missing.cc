// Scores are not scaled.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  AttendParameters how = suspect.attention();
  how.scale = 1;
  return {{std::string(suspect.name()) + " does not scale the scores, the model says by " +
               text_of(suspect.record().as.attend.scale),
           [=, &suspect](const OpInputs& inputs, const Matrix&) {
             return suspect.attended(inputs, how);
           }}};
}

}  // namespace

Signature attention_scale_missing() {
  return {"attention_scale_missing", {PLUMB_OP_ATTEND}, hypotheses};
}

}  // namespace plumbline::diff::signatures
