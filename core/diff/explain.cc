#include "core/diff/explain.h"

#include "core/diff/diagnose.h"

namespace plumbline::diff {
namespace {

uint32_t position_of(const OpErrors& op) {
  return op.example ? op.example->position : op.worst_position;
}

// In the order of steps, then as they run: where the first error came in.
OpErrors* first_beyond(PromptReport& report) {
  const auto n_prompt = static_cast<uint32_t>(report.ids_a.size());
  const auto step_of = [&](const OpErrors& op) {
    return position_of(op) < n_prompt ? 0 : position_of(op) - n_prompt + 1;
  };
  OpErrors* first = nullptr;
  for (OpErrors& op : report.ops) {
    if (op.verdict < Verdict::kUnexplained || !op.budget) continue;
    if (first == nullptr || step_of(op) < step_of(*first)) first = &op;
  }
  return first;
}

}  // namespace

Result<void> explain_ops(Side& a, Side& b, const Replay& replay, const Progress& say,
                         PromptReport& report) {
  if (OpErrors* const op = first_beyond(report)) {
    say("why op " + op->op + " differs");
    PLUMB_TRY(visit_op(a, b, replay, op->op, position_of(*op), [&](OpEvidence& evidence) {
      evidence.noise = op->budget.value_or(0);
      const std::optional<Cause> cause = diagnose(evidence);
      if (!cause) return;
      op->verdict = Verdict::kWrong;
      if (!report.cause) report.cause = cause;  // an earlier door's comes first
    }));
  }
  return {};
}

}  // namespace plumbline::diff
