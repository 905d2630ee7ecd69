// Only a part of the values that turn are turned, as in a model of partial rotation.
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  const RopeParameters right = suspect.rope();
  std::vector<Hypothesis> found;
  for (const uint32_t share : {2u, 4u}) {
    if (right.n_rotated % (2 * share) != 0) continue;
    RopeParameters how = right;
    how.n_rotated = right.n_rotated / share;
    how.frequencies.clear();
    for (size_t i = 0; i < right.frequencies.size(); i += share)
      how.frequencies.push_back(right.frequencies[i]);
    found.push_back(variant(suspect,
                            "rotates " + std::to_string(how.n_rotated) +
                                " values of a head, the model says " +
                                std::to_string(right.n_rotated),
                            how));
  }
  return found;
}

}  // namespace

Signature rope_partial() {
  return {"rope_partial", {PLUMB_OP_ROPE}, hypotheses};
}

}  // namespace plumbline::diff::signatures
