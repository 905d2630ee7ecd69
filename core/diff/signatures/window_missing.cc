// A sliding layer attends to everything before it.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  if (suspect.record().as.attend.mask != PLUMB_MASK_WINDOW) return {};
  auto how = suspect.attention();
  how.sees = [](int64_t query, int64_t key) { return key <= query; };
  return {variant(
      suspect, "has no window, the model says " + std::to_string(suspect.record().as.attend.window),
      how)};
}

}  // namespace

Signature window_missing() {
  return {"window_missing", {PLUMB_OP_ATTEND}, hypotheses};
}

}  // namespace plumbline::diff::signatures
