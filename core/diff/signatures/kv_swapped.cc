// Keys are stored as values and values as keys.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  return {variant(suspect, "stores keys as values and values as keys", [&](const OpInputs& inputs) {
    return kv_append(suspect.cache_before(), matrix_of(inputs[1]), matrix_of(inputs[0]),
                     suspect.record().as.kv_append.first_row);
  })};
}

}  // namespace

Signature kv_swapped() {
  return {"kv_swapped", {PLUMB_OP_KV_APPEND}, hypotheses};
}

}  // namespace plumbline::diff::signatures
