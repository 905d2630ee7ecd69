// A window that is a little wider or narrower: < taken for <=, or the query itself not counted.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  if (suspect.record().as.attend.mask != PLUMB_MASK_WINDOW) return {};
  const int64_t right = suspect.record().as.attend.window;
  std::vector<Hypothesis> found;
  for (const int64_t window : {right + 1, right - 1, right + 2, right - 2}) {
    if (window < 1) continue;
    AttendParameters how = suspect.attention();
    how.sees = [window](int64_t query, int64_t key) {
      return key <= query && query - key < window;
    };
    found.push_back(variant(
        suspect,
        "has a window of " + std::to_string(window) + ", the model says " + std::to_string(right),
        how));
  }
  return found;
}

}  // namespace

Signature window_off_by_one() {
  return {"window_off_by_one", {PLUMB_OP_ATTEND}, hypotheses};
}

}  // namespace plumbline::diff::signatures
