#include "core/diff/explain.h"

#include <algorithm>

#include "core/diff/diagnose.h"
#include "core/diff/verdicts.h"

namespace plumbline::diff {
namespace {

// Of one prompt: the f64 evaluator takes as long for a matrix product as a forward.
constexpr size_t kSplits = 3;

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

bool reads_other_codes(Side& a, Side& b, const OpErrors& op) {
  const NumericsClass* const of_a = a.op_class(op.op);
  const NumericsClass* const of_b = b.op_class(op.op);
  return op.kind == "matmul" && of_a != nullptr && of_b != nullptr &&
         (of_a->activations != of_b->activations || of_a->weights != of_b->weights);
}

std::vector<OpErrors*> worth_a_split(Side& a, Side& b, PromptReport& report) {
  std::vector<OpErrors*> ops;
  for (OpErrors& op : report.ops) {
    if (op.n_bits_differ > 0 && reads_other_codes(a, b, op)) ops.push_back(&op);
  }
  const size_t n = std::min(kSplits, ops.size());
  std::partial_sort(ops.begin(), ops.begin() + static_cast<std::ptrdiff_t>(n), ops.end(),
                    [](const OpErrors* x, const OpErrors* y) {
                      return x->introduced_worst > y->introduced_worst;
                    });
  ops.resize(n);
  return ops;
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
  if (a.identity().is_runner || report.index > 0) return {};
  for (OpErrors* const op : worth_a_split(a, b, report)) {
    say("how the error of op " + op->op + " splits");
    PLUMB_TRY(visit_op(a, b, replay, op->op, position_of(*op),
                       [&](OpEvidence& evidence) { op->split = split_introduced(evidence); }));
    if (op->split && (op->split->weights > op->split->weights_bound ||
                      op->split->activations > op->split->activations_bound))
      op->verdict = Verdict::kWrong;
  }
  return {};
}

}  // namespace plumbline::diff
