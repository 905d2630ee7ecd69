// junit_xml.h: a comparison as test results, for machines that collect those.
// Source: the format of Apache Ant's and Jenkins' JUnit reports (testsuites, testsuite, testcase).
#pragma once

#include <string>

#include "core/diff/report.h"

namespace plumbline::report {

/// A suite for each prompt, a case for each of its doors. WRONG and UNEXPLAINED are failures; a
/// door that was not compared is skipped; a report of nothing is one error.
std::string junit_xml(const diff::Report& report);

}  // namespace plumbline::report
