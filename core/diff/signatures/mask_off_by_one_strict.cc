// A query does not see its own position.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  auto how = suspect.attention();
  // A query that would see no key keeps its own.
  how.sees = [sees = how.sees](int64_t query, int64_t key) {
    const bool is_alone = query == 0 || !sees(query, query - 1);
    return is_alone ? key == query : key < query && sees(query, key);
  };
  return {variant(suspect, "hides a query's own position from it", how)};
}

}  // namespace

Signature mask_off_by_one_strict() {
  return {"mask_off_by_one_strict", {PLUMB_OP_ATTEND}, hypotheses};
}

}  // namespace plumbline::diff::signatures
