#include "core/diff/diagnose.h"

#include <algorithm>
#include <cmath>

#include "core/diff/signatures/probes.h"
#include "core/diff/signatures/signature.h"

namespace plumbline::diff {
namespace {

constexpr double kUnit = 0x1p-24;  // of rounding to f32

bool is_cancelled(const OpEvidence& evidence) {
  return evidence.cancel != nullptr && *evidence.cancel;
}

/// Inputs on which the suspect was run, and how it did.
struct Trial {
  OpInputs inputs;
  Matrix seen;
  double tolerance = 0;  // relative error of a row that arithmetic accounts for
  double plain_error = 0;  // of the op as it should be
};

/// What f32 arithmetic may leave of an op's exact value, where nothing was measured: the roundings
/// of n terms add up like a random walk (Higham and Mary 2019), and an angle inherits the rounding
/// of its frequency.
double rounding(const Suspect& suspect, const OpInputs& inputs) {
  double n_terms = inputs[0].shape.width;
  double angle = 0;
  if (suspect.kind() == PLUMB_OP_ATTEND) n_terms += inputs[2].shape.n_rows;
  if (suspect.kind() == PLUMB_OP_ROPE) angle = suspect.last_position();
  return kUnit * (8 + 2 * std::sqrt(n_terms) + 2 * angle);
}

/// True if both sides read the same formats, so that one shows the other's noise.
bool are_alike(const Suspect& suspect) {
  if (suspect.kind() != PLUMB_OP_MATMUL && suspect.kind() != PLUMB_OP_EMBED) return true;
  const auto format_of = [&](const OpSide& side) -> int32_t {
    const auto* entry =
        side.file == nullptr ? nullptr : side.file->find(suspect.evidence().info.weight);
    return entry == nullptr ? -1 : entry->tensor.format;
  };
  const bool same_inputs =
      suspect.kind() == PLUMB_OP_EMBED ||
      suspect.own().record.as.matmul.in_format == suspect.other().record.as.matmul.in_format;
  return same_inputs && format_of(suspect.own()) == format_of(suspect.other());
}

Trial make_trial(const Suspect& suspect, OpInputs inputs, Matrix seen,
                 const std::optional<Matrix>& healthy) {
  const Matrix plain = suspect.plain(inputs);
  Trial trial{std::move(inputs), std::move(seen), 0, 0};
  trial.tolerance = rounding(suspect, trial.inputs);
  if (are_alike(suspect)) {
    trial.tolerance = std::max(trial.tolerance, suspect.evidence().noise);
    // A variant of the op may be somewhat worse conditioned than the op. What is far more than
    // arithmetic leaves is no noise: the other side is the one that is wrong.
    constexpr double kFar = 64;
    const double measured = healthy ? worst_row_error(plain, *healthy) : 0;
    if (measured <= kFar * trial.tolerance)
      trial.tolerance = std::max(trial.tolerance, 4 * measured);
  }
  trial.plain_error = worst_row_error(plain, trial.seen);
  return trial;
}

std::vector<Trial> trials_of(const Suspect& suspect) {
  std::vector<Trial> trials;
  trials.push_back(make_trial(suspect, suspect.narrowed(suspect.inputs()), suspect.seen(),
                              suspect.chosen(suspect.other().output)));
  for (OpInputs& probe : probes(suspect)) {
    if (is_cancelled(suspect.evidence())) break;
    std::optional<Matrix> seen = suspect.run(probe);
    if (!seen) continue;
    std::optional<Matrix> healthy;
    if (suspect.other().run) {
      const auto output = suspect.other().run(probe);
      if (output && output->size() == suspect.evidence().output_shape.size())
        healthy = suspect.chosen(*output);
    }
    trials.push_back(
        make_trial(suspect, suspect.narrowed(std::move(probe)), *std::move(seen), healthy));
  }
  return trials;
}

bool is_explained(const std::vector<Trial>& trials) {
  return std::all_of(trials.begin(), trials.end(),
                     [](const Trial& trial) { return trial.plain_error <= trial.tolerance; });
}

/// The largest error over all trials; nothing if one is beyond its tolerance, or cancelled.
std::optional<double> error_of(const Suspect& suspect, const Hypothesis& hypothesis,
                               const std::vector<Trial>& trials) {
  double worst = 0;
  for (const Trial& trial : trials) {
    if (is_cancelled(suspect.evidence())) return std::nullopt;
    const Matrix variant = hypothesis.evaluate(trial.inputs, trial.seen);
    if (variant.values.size() != trial.seen.values.size()) return std::nullopt;
    const double error = worst_row_error(variant, trial.seen);
    if (!(error <= hypothesis.conditioning * trial.tolerance)) return std::nullopt;
    worst = std::max(worst, error);
  }
  return worst;
}

struct Proof {
  const Signature* signature;
  std::string statement;
  double error;
};

std::vector<Proof> proofs_of(const Suspect& suspect, const std::vector<Trial>& trials) {
  std::vector<Proof> proofs;
  for (const Signature& signature : all_signatures()) {
    if (std::find(signature.kinds.begin(), signature.kinds.end(), suspect.kind()) ==
        signature.kinds.end())
      continue;
    for (const Hypothesis& hypothesis : signature.hypotheses(suspect)) {
      const std::optional<double> error = error_of(suspect, hypothesis, trials);
      if (!error) continue;
      proofs.push_back({&signature, hypothesis.statement, *error});
      break;
    }
  }
  return proofs;
}

bool are_equivalent(const Signature& a, const Signature& b) {
  const auto names = [](const Signature& one, const Signature& other) {
    return std::find(one.equivalents.begin(), one.equivalents.end(), other.name) !=
           one.equivalents.end();
  };
  return names(a, b) || names(b, a);
}

/// On A's inputs where it shows there, else the largest that a number can tell.
double plain_error_of(const std::vector<Trial>& trials) {
  if (trials[0].plain_error > trials[0].tolerance && std::isfinite(trials[0].plain_error))
    return trials[0].plain_error;
  double largest = 0;
  for (const Trial& trial : trials) {
    if (std::isfinite(trial.plain_error)) largest = std::max(largest, trial.plain_error);
  }
  return largest;
}

std::optional<Cause> cause_of(const Suspect& suspect) {
  const std::vector<Trial> trials = trials_of(suspect);
  if (is_explained(trials)) return std::nullopt;
  const std::vector<Proof> proofs = proofs_of(suspect, trials);
  if (proofs.empty()) return std::nullopt;
  Cause cause;
  cause.signature = proofs[0].signature->name;
  cause.statement = proofs[0].statement;
  cause.reproduces_b = proofs[0].error;
  cause.plain = plain_error_of(trials);
  for (size_t i = 1; i < proofs.size(); ++i) {
    // Two that differ and both hold: the probes did not part them, so neither is known.
    if (!are_equivalent(*proofs[0].signature, *proofs[i].signature)) return std::nullopt;
    cause.also.emplace_back(proofs[i].signature->name);
  }
  return cause;
}

}  // namespace

std::optional<Cause> diagnose(const OpEvidence& evidence) {
  for (const Suspect::Side side : {Suspect::Side::kB, Suspect::Side::kA}) {
    const std::optional<Suspect> suspect = Suspect::of(evidence, side);
    if (!suspect) continue;
    std::optional<Cause> cause = cause_of(*suspect);
    if (is_cancelled(evidence)) return std::nullopt;  // not all were tried
    if (cause) return cause;
  }
  return std::nullopt;
}

}  // namespace plumbline::diff
