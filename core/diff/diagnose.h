// diagnose.h: why an op differs: by counterfactual.
#pragma once

#include <optional>

#include "core/diff/evidence.h"
#include "core/diff/report.h"

namespace plumbline::diff {

/// The cause that was proved: a variant of the op that reproduces the deviating side on A's inputs
/// and on probes, where the plain op does not. Nothing: the place is known, the cause is not.
/// Both sides are suspects; the statement says which it is. Runs both sides' ops on probes. Once
/// cancelled: nothing.
std::optional<Cause> diagnose(const OpEvidence& evidence);

}  // namespace plumbline::diff
