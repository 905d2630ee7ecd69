// Another epsilon under the root: measured where it is as large as the mean square.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/diff/signatures/fit.h"
#include "core/diff/signatures/signature.h"

namespace plumbline::diff::signatures {
namespace {

/// The epsilon that gives the suspect's size of row 0's first group.
double epsilon_of(const Suspect& suspect, const OpInputs& inputs, const Matrix& seen) {
  NormParameters bare = suspect.norm();
  bare.epsilon = 0;
  const Matrix scaled = suspect.normed(inputs, bare);
  double square = 0, along = 0, length = 0;
  for (size_t i = 0; i < bare.width; ++i) {
    const double x = inputs[0].values[i];
    square += x * x / bare.width;
    along += seen.row(0)[i] * scaled.row(0)[i];
    length += scaled.row(0)[i] * scaled.row(0)[i];
  }
  const double ratio = along / length;  // sqrt(square / (square + epsilon))
  return square / (ratio * ratio) - square;
}

/// One epsilon shrinks small rows more than large ones; if all are of a size, any factor is an
/// epsilon's.
bool has_sizes(const Suspect& suspect) {
  const size_t width = suspect.norm().width;
  const std::span<const float> values = suspect.inputs()[0].values;
  double smallest = std::numeric_limits<double>::infinity(), largest = 0;
  for (size_t at = 0; at + width <= values.size(); at += width) {
    double square = 0;
    for (const double x : values.subspan(at, width)) square += x * x;
    smallest = std::min(smallest, square);
    largest = std::max(largest, square);
  }
  return largest >= 2 * smallest;
}

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  double estimate = epsilon_of(suspect, suspect.inputs(), suspect.seen());
  double uncertainty = 0.5;
  bool is_measured = false;
  // With all values alike, the mean square can be chosen: near the epsilon that is sought.
  OpInputs inputs = suspect.inputs();
  for (int round = 0; round < 3; ++round) {
    const double wanted = estimate > 1e-20 ? estimate : suspect.record().as.norm.epsilon;
    for (float& value : inputs[0].values) value = static_cast<float>(std::sqrt(wanted));
    const std::optional<Matrix> seen = suspect.run(inputs);
    if (!seen) break;
    estimate = epsilon_of(suspect, inputs, *seen);
    uncertainty = 1e-3;
    is_measured = true;
  }
  if (!is_measured && !has_sizes(suspect)) return {};
  std::vector<double> likely = likely_numbers(estimate, uncertainty);
  if (estimate < 1e-15) likely.insert(likely.begin(), 0);
  std::vector<Hypothesis> found;
  for (const double epsilon : likely) {
    if (!(epsilon >= 0)) continue;
    NormParameters how = suspect.norm();
    how.epsilon = epsilon;
    found.push_back(variant(suspect,
                            "uses epsilon " + text_of(epsilon) + ", the model says " +
                                text_of(suspect.record().as.norm.epsilon),
                            how));
  }
  return found;
}

}  // namespace

Signature norm_epsilon() {
  return {"norm_epsilon", {PLUMB_OP_RMS_NORM}, hypotheses};
}

}  // namespace plumbline::diff::signatures
