// report_json.h: a report as JSON, and back. Schema: configs/schema/diff-report.schema.json.
#pragma once

#include <nlohmann/json.hpp>

#include "core/diff/report.h"
#include "plumb/sdk/result.h"

namespace plumbline::diff {

inline constexpr int kReportSchema = 1;

/// The same report gives the same bytes; what can never be repeated is under "volatile". Numbers
/// that are not finite become null, and null a NaN or, for errors, infinity.
nlohmann::ordered_json to_json(const Report& report);

/// Fails CORRUPT: "prompts[3].ops[7].kind: expected a text", or another schema.
Result<Report> report_from_json(const nlohmann::ordered_json& json);

}  // namespace plumbline::diff
