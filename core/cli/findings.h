// findings.h: findings of golden verification and of the protocol, for readers and for programs.
#pragma once

#include <string>
#include <vector>

#include "core/cli/session.h"
#include "core/diff/noise.h"
#include "core/golden/finding.h"

namespace plumbline::cli {

/// "TIE_FLIP", or "NOT RUN".
std::string verdict_text(const golden::Finding& finding);
/// A line for each: verdict, what, what was seen.
std::string findings_table(const std::vector<golden::Finding>& findings);
pipeline::OrderedJson to_json(const golden::Finding& finding);
pipeline::OrderedJson to_json(const std::vector<golden::Finding>& findings);

/// kDone, kDifference or, where nothing was compared, kNothingDone. is_strict: only a MATCH will
/// do.
int exit_of(const golden::Summary& summary, bool is_strict);

}  // namespace plumbline::cli
