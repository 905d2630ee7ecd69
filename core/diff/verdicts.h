// verdicts.h: from the verdicts of parts to those of a prompt and of the whole, and to the place.
#pragma once

#include "core/diff/report.h"

namespace plumbline::diff {

/// Verdict and place of a prompt, from its parts.
void judge(PromptReport& prompt);

/// Verdict of the whole, whether anything was compared, and notes for the reader.
void judge(Report& report);

}  // namespace plumbline::diff
