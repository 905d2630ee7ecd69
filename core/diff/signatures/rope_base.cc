// Another base of the frequencies: measured pair by pair at position 1, then farther out, where
// slow pairs have turned visibly.
#include <cmath>
#include <numbers>

#include "core/diff/signatures/fit.h"
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

double base_of(const Suspect& suspect) {
  const model::HyperParameters& hp = suspect.hyper_parameters();
  const auto layer = static_cast<size_t>(suspect.evidence().info.layer);
  return layer < hp.sliding_layers.size() && hp.sliding_layers[layer] ? hp.rope_local.base
                                                                      : hp.rope.base;
}

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  const RopeParameters right = suspect.rope();
  const double n = right.n_rotated;
  double exponent = 0;  // ln(base of the suspect / base of the model)
  double uncertainty = 1e-2;
  const auto refine = [&](const Turns& turns) {
    double weighted = 0, weights = 0;
    for (size_t t = 0; t < turns.positions.size(); ++t) {
      const double position = turns.positions[t];
      for (size_t i = 1; i < turns.n_pairs; ++i) {
        // Frequencies are base^(-2i/n): to the first order in what is still missing.
        const double share = 2 * static_cast<double>(i) / n;
        const double frequency = right.frequencies[i] * std::exp(-share * exponent);
        const double known = position * (frequency - right.frequencies[i]);
        const double missing = std::remainder(turns.at(t, i) - known, 2 * std::numbers::pi);
        const double weight = position * frequency * share;
        weighted += -missing * weight;
        weights += weight * weight;
      }
    }
    if (weights > 0) exponent += weighted / weights;
  };
  // From one position to the next, the last estimate tells how often a pair has gone round.
  bool is_measured = false;
  for (const int32_t position : {1, 1, 1, 1, 2, 4, 8, 16, 32, 64, 128, 256}) {
    const std::optional<Turns> turns = measured_turns_at(suspect, position);
    if (!turns) break;
    refine(*turns);
    is_measured = true;
  }
  if (is_measured) {
    uncertainty = 1e-5;
  } else {
    for (int round = 0; round < 8; ++round) refine(measured_turns(suspect));
  }
  const double base = base_of(suspect);
  std::vector<Hypothesis> found;
  for (const double likely : likely_numbers(base * std::exp(exponent), uncertainty)) {
    if (!(likely > 0)) continue;
    RopeParameters how = right;
    for (size_t i = 0; i < how.frequencies.size(); ++i) {
      how.frequencies[i] = static_cast<float>(
          right.frequencies[i] * std::pow(likely / base, -2 * static_cast<double>(i) / n));
    }
    found.push_back(
        variant(suspect,
                "rotates with base " + text_of(likely) + ", the model says " + text_of(base), how));
  }
  return found;
}

}  // namespace

Signature rope_base() {
  return {"rope_base", {PLUMB_OP_ROPE}, hypotheses};
}

}  // namespace plumbline::diff::signatures
