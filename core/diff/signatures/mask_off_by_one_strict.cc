// A query does not see its own position.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  AttendParameters how = suspect.attention();
  how.sees = [sees = how.sees](int64_t query, int64_t key) {
    if (query == 0) return key == 0;  // a query without any key keeps its own
    return key < query && sees(query, key);
  };
  return {{std::string(suspect.name()) + " hides a query's own position from it",
           [=, &suspect](const OpInputs& inputs, const Matrix&) {
             return suspect.attended(inputs, how);
           }}};
}

}  // namespace

Signature mask_off_by_one_strict() {
  return {"mask_off_by_one_strict", {PLUMB_OP_ATTEND}, hypotheses};
}

}  // namespace plumbline::diff::signatures
