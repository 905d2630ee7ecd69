// report_json.h: a report as JSON, and back. Schema: configs/schema/diff-report.schema.json.
#pragma once

#include <nlohmann/json.hpp>

#include "core/diff/report.h"
#include "plumb/sdk/result.h"

namespace plumbline::diff {

inline constexpr int kReportSchema = 1;

/// The same report gives the same bytes; what can never be repeated is under "volatile". null is
/// what is absent.
nlohmann::ordered_json to_json(const Report& report);

nlohmann::ordered_json to_json(const SideIdentity& side);

/// A number; "inf", "-inf" or "nan", for which JSON has none.
nlohmann::ordered_json number_json(double value);

/// Fails CORRUPT: "prompts[3].ops[7].kind: expected a text", or another schema.
Result<Report> report_from_json(const nlohmann::ordered_json& json);

}  // namespace plumbline::diff
