// quantisation_page.h: what a text cost, or what a quantisation costs over it: JSON and a page.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/diff/quantisation.h"
#include "core/diff/report.h"

namespace plumbline::report {

struct QuantisationReport {
  std::string text;  // what the text is called
  diff::SideIdentity a;
  std::optional<diff::SideIdentity> b = {};
  diff::TextScores scores = {};
};

/// "text", "side_a", "side_b", and what diff::to_json says of the scores. What is not known is
/// null.
nlohmann::ordered_json to_json(const QuantisationReport& report);

/// One HTML page for people, of the kind of html_page.
std::string quantisation_page(const QuantisationReport& report);

}  // namespace plumbline::report
