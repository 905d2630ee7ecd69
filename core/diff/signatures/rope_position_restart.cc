// Positions begin again at 0 from some row on: counted in a call instead of in the context.
#include "core/diff/signatures/fit.h"
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  std::vector<Hypothesis> found;
  for (const int64_t offset : offsets_of(suspect)) {
    if (offset >= 0) continue;
    const auto start = static_cast<int32_t>(-offset);
    const RopeParameters how = suspect.rope();
    found.push_back(variant(suspect,
                            "counts positions from " + std::to_string(start) + " on from 0 again",
                            [=](const OpInputs& inputs) {
                              std::vector<int32_t> positions = integers_of(inputs[1]);
                              for (int32_t& p : positions) p -= p >= start ? start : 0;
                              return rope(matrix_of(inputs[0]), positions, how);
                            }));
  }
  return found;
}

}  // namespace

Signature rope_position_restart() {
  return {"rope_position_restart", {PLUMB_OP_ROPE}, hypotheses};
}

}  // namespace plumbline::diff::signatures
