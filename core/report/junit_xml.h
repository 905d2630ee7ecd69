// junit_xml.h: a comparison as test results, for machines that collect those.
// Source: the format of Apache Ant's and Jenkins' JUnit reports (testsuites, testsuite, testcase).
#pragma once

#include <string>

#include "core/diff/report.h"

namespace plumbline::report {

/// A suite for each prompt, a case for each of its doors, and one for a verdict of the whole report
/// that no prompt has. What is worse than worst_allowed is a failure; a door that was not compared
/// is skipped; a report of nothing is one error.
std::string junit_xml(const diff::Report& report,
                      diff::Verdict worst_allowed = diff::Verdict::kTieFlip);

}  // namespace plumbline::report
