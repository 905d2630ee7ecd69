// page_data.h: the report as the page reads it: the JSON report, cut to a size that a browser
// likes.
#pragma once

#include <nlohmann/json.hpp>

#include "core/diff/report.h"

namespace plumbline::report {

/// Prompts with all details, the worst first; of the others the page has no ops and no lists of
/// logits.
inline constexpr size_t kDetailedPrompts = 24;
/// Cells of all heat maps together, about: positions share a column beyond that.
inline constexpr size_t kCellsMax = 300'000;

/// {"report": the JSON report, "page": {"rows_per_column", "detailed": indices into the prompts,
/// "summary": counts over all prompts}}.
nlohmann::ordered_json page_data(const diff::Report& report);

}  // namespace plumbline::report
