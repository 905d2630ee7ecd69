// A row is written over one that was held: an index that wraps or lags.
#include <algorithm>

#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  const Matrix plain = suspect.plain(suspect.inputs()), seen = suspect.seen();
  std::vector<Hypothesis> found;
  const size_t newest = plain.n_rows - 1;
  for (size_t row = 0; row < newest; ++row) {
    const bool is_newest = std::ranges::equal(seen.row(row), plain.row(newest));
    if (!is_newest) continue;
    found.push_back(variant(suspect,
                            "writes row " + std::to_string(newest) + " of the cache over row " +
                                std::to_string(row) + " too",
                            [=, &suspect](const OpInputs& inputs) {
                              Matrix out = suspect.plain(inputs);
                              std::ranges::copy(out.row(newest), out.row(row).begin());
                              return out;
                            }));
  }
  return found;
}

}  // namespace

Signature kv_row_overwritten() {
  return {"kv_row_overwritten", {PLUMB_OP_KV_APPEND}, hypotheses};
}

}  // namespace plumbline::diff::signatures
