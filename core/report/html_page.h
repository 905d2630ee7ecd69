// html_page.h: a comparison as one HTML page for people.
#pragma once

#include <string>

#include "core/diff/report.h"

namespace plumbline::report {

/// A whole page that needs no network and no file beside it: style, script and the report inside.
/// Nothing in the report, however it is written, becomes a part of the page but text.
/// A large report is cut: page_data.h.
std::string html_page(const diff::Report& report);

}  // namespace plumbline::report
