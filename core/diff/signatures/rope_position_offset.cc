// All positions are off by one number: counted from 1, or not moved back.
#include "core/diff/signatures/fit.h"
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  std::vector<Hypothesis> found;
  for (const int64_t offset : offsets_of(suspect)) {
    const RopeParameters how = suspect.rope();
    found.push_back(variant(suspect,
                            "rotates for positions that are off by " + std::to_string(offset),
                            [=](const OpInputs& inputs) {
                              std::vector<int32_t> positions = integers_of(inputs[1]);
                              for (int32_t& p : positions) p += static_cast<int32_t>(offset);
                              return rope(matrix_of(inputs[0]), positions, how);
                            }));
  }
  return found;
}

}  // namespace

Signature rope_position_offset() {
  return {"rope_position_offset", {PLUMB_OP_ROPE}, hypotheses, {"rope_position_restart"}};
}

}  // namespace plumbline::diff::signatures
