// diff_text.h: a diff report for a person at a terminal: the verdict first, then where, then why.
#pragma once

#include <string>

#include "core/diff/report.h"

namespace plumbline::cli {

/// At most 100 columns.
std::string diff_summary(const diff::Report& report);

}  // namespace plumbline::cli
