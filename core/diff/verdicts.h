// verdicts.h: from the verdicts of parts to those of a prompt and of the whole, and to the place.
#pragma once

#include <vector>

#include "core/diff/report.h"
#include "plumb/sdk/result.h"

namespace plumbline::diff {

struct Difference {
  Place place;
  Verdict verdict;
};
/// All of a prompt's parts: in the order of the doors, of one door in that of the steps, then as
/// they run.
std::vector<Difference> differences(const PromptReport& prompt);
Place place_of(const PickErrors& pick);

/// A cause that was proved; the prompt keeps the one whose place comes first in that order.
void add_cause(PromptReport& prompt, std::optional<Cause> cause);

/// Verdict and place of a prompt, from its parts.
void judge(PromptReport& prompt);

/// Verdict of the whole, whether anything was compared, and notes for the reader.
void judge(Report& report);

/// Of a report that was read. Fails CORRUPT where a verdict is milder than its parts, or WRONG
/// where none of them is: which, and what was expected.
Result<void> check_verdicts(const Report& report);

}  // namespace plumbline::diff
