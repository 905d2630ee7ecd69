// A row of the cache is not written and keeps what it held.
#include <algorithm>

#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  const Matrix plain = suspect.plain(suspect.inputs()), seen = suspect.seen();
  std::vector<Hypothesis> found;
  for (size_t row = suspect.record().as.kv_append.first_row; row < plain.n_rows; ++row) {
    if (std::ranges::equal(seen.row(row), plain.row(row))) continue;
    const std::vector<double> held(seen.row(row).begin(), seen.row(row).end());
    found.push_back(variant(suspect, "does not write row " + std::to_string(row) + " of the cache",
                            [=, &suspect](const OpInputs& inputs) {
                              Matrix out = suspect.plain(inputs);
                              std::ranges::copy(held, out.row(row).begin());
                              return out;
                            }));
  }
  return found;
}

}  // namespace

Signature kv_stale_row() {
  return {"kv_stale_row", {PLUMB_OP_KV_APPEND}, hypotheses};
}

}  // namespace plumbline::diff::signatures
