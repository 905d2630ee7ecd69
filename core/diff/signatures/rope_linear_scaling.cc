// Positions are divided by a factor, or the factor is forgotten: all pairs are slower alike.
#include "core/diff/signatures/fit.h"
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  const RopeParameters right = suspect.rope();
  const std::optional<Turns> at_one = measured_turns_at(suspect, 1);
  const Turns turns = at_one ? *at_one : measured_turns(suspect);
  double turned = 0, expected = 0;  // sums over pairs, weighted by their frequency
  for (size_t t = 0; t < turns.positions.size(); ++t) {
    // One turn of the fastest pair would hide how often it went round.
    if (turns.positions[t] != 1 && at_one) continue;
    for (size_t i = 0; i < turns.n_pairs; ++i) {
      const double angle = double{right.frequencies[i]} * turns.positions[t];
      if (angle > 1.5) continue;
      turned += angle * (angle + turns.at(t, i));
      expected += angle * angle;
    }
  }
  if (!(expected > 0) || !(turned > 0)) return {};
  std::vector<Hypothesis> found;
  for (const double factor : likely_numbers(expected / turned, 1e-5)) {
    RopeParameters how = right;
    for (float& frequency : how.frequencies) frequency = static_cast<float>(frequency / factor);
    found.push_back(variant(
        suspect, "divides positions by " + text_of(factor) + " more than the model says", how));
  }
  return found;
}

}  // namespace

Signature rope_linear_scaling() {
  return {"rope_linear_scaling", {PLUMB_OP_ROPE}, hypotheses};
}

}  // namespace plumbline::diff::signatures
