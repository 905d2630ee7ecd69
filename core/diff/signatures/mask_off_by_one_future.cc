// A query sees the position behind its own.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  auto how = suspect.attention();
  how.sees = [sees = how.sees](int64_t query, int64_t key) {
    return key == query + 1 || sees(query, key);
  };
  return {variant(suspect, "shows a query the position behind its own", how)};
}

}  // namespace

Signature mask_off_by_one_future() {
  return {"mask_off_by_one_future", {PLUMB_OP_ATTEND}, hypotheses};
}

}  // namespace plumbline::diff::signatures
