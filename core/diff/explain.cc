#include "core/diff/explain.h"

#include <algorithm>

#include "core/diff/diagnose.h"
#include "core/diff/verdicts.h"

namespace plumbline::diff {
namespace {

// Of the forward that shows it.
uint32_t position_of(const OpErrors& op) {
  return op.example ? op.example->computed_at : op.worst_position;
}

// Where the first error came in.
std::optional<Place> first_beyond(const PromptReport& report) {
  for (Difference& one : differences(report)) {
    if (one.place.door == Door::kOps && one.verdict >= Verdict::kUnexplained)
      return std::move(one.place);
  }
  return std::nullopt;
}

}  // namespace

Result<void> explain_ops(Side& a, Side& b, const Replay& replay, const Progress& say,
                         PromptReport& report) {
  if (const std::optional<Place> place = first_beyond(report)) {
    const auto op = std::ranges::find(report.ops, place->op, &OpErrors::op);
    say("why op " + op->op + " differs");
    PLUMB_TRY(visit_op(a, b, replay, op->op, position_of(*op), [&](OpEvidence& evidence) {
      evidence.noise = op->budget.value_or(0);
      std::optional<Cause> cause = diagnose(evidence);
      if (!cause) return;
      op->verdict = Verdict::kWrong;
      cause->place = *place;
      add_cause(report, std::move(cause));
    }));
  }
  return {};
}

}  // namespace plumbline::diff
