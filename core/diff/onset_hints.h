// onset_hints.h: what the way in which two chained runs part reminds of. Hints, never causes: a
// cause is proved at an op (diagnose.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/diff/report.h"

namespace plumbline::diff {

/// Of a chained prompt, whose logits were compared up to the step at which the picks part.
std::vector<std::string> onset_hints(const PromptReport& report, std::span<const int32_t> picked_a,
                                     std::span<const int32_t> picked_b);

/// The share of ids that open a run of four which occurred before: near 1 where a text goes round
/// in circles.
double repetition(std::span<const int32_t> ids);

}  // namespace plumbline::diff
