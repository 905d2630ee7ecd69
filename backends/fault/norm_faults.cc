// norm_faults.cc: norms by another formula.
#include <algorithm>
#include <cmath>

#include "call.h"

namespace plumbline::fault {
namespace {

constexpr Set kNorms = {PLUMB_OP_RMS_NORM, PLUMB_OP_LAYER_NORM};

/// What a formula of its own does otherwise.
struct Formula {
  bool has_epsilon_outside = false;
  float weight_offset = 0;
  bool is_over_row = false;  // all groups of a row are one
};

/// The norm as written, with sums in f64.
Result<void> norm_by(Call& call, const Formula& formula) {
  const plumb_op_norm& norm = call.op().as.norm;
  const OpFacts& facts = call.facts();
  const uint64_t n = output_width(facts) * call.op().n_rows;
  const uint64_t width =
      formula.is_over_row ? uint64_t{norm.n_groups} * norm.width : uint64_t{norm.width};
  if (width == 0) return call.run(call.op());
  PLUMB_ASSIGN(const std::span<float> values, call.read<float>(norm.in, n));
  const bool is_centred = call.op().kind == PLUMB_OP_LAYER_NORM;
  for (uint64_t begin = 0; begin < n; begin += width) {
    const std::span<float> x = values.subspan(begin, width);
    double centre = 0, squares = 0;
    for (const float value : x) centre += is_centred ? value / double(width) : 0;
    for (const float value : x) squares += (value - centre) * (value - centre);
    const double mean = squares / double(width), epsilon = norm.epsilon;
    const double root =
        formula.has_epsilon_outside ? std::sqrt(mean) + epsilon : std::sqrt(mean + epsilon);
    for (uint64_t i = 0; i < width; ++i) {
      const uint64_t at = i % norm.width;
      const double w = facts.weight == nullptr ? 1 : facts.weight->values[at];
      const double b = facts.bias == nullptr ? 0 : facts.bias->values[at];
      x[i] = static_cast<float>((x[i] - centre) / root * (w + formula.weight_offset) + b);
    }
  }
  return call.write(norm.out, values);
}

/// For formulas of their own, which index the weight themselves.
const char* has_whole_weights(const OpFacts& facts) {
  const plumb_op_norm& norm = facts.op.as.norm;
  const auto fits = [&](plumb_handle handle, const Weight* found) {
    return handle == 0 || (found != nullptr && found->values.size() == norm.width);
  };
  return fits(norm.weight, facts.weight) && fits(norm.bias, facts.bias)
             ? nullptr
             : "a weight and bias as wide as a group";
}

const char* has_weight(const OpFacts& facts) {
  return facts.op.as.norm.weight != 0 ? has_whole_weights(facts) : "a norm with a weight";
}

const char* has_groups(const OpFacts& facts) {
  return facts.op.as.norm.n_groups > 1 ? has_whole_weights(facts) : "a norm of several groups";
}

void other_epsilon(const OpFacts& facts, plumb_op& op) {
  op.as.norm.epsilon = static_cast<float>(op.as.norm.epsilon * facts.amount);
}
void subtract_mean(const OpFacts&, plumb_op& op) {
  op.kind = PLUMB_OP_LAYER_NORM;
}
void forget_weight(const OpFacts&, plumb_op& op) {
  op.as.norm.weight = 0;
}

Result<void> epsilon_outside_root(Call& call) {
  return norm_by(call, {.has_epsilon_outside = true});
}
Result<void> weight_plus_one(Call& call) {
  return norm_by(call, {.weight_offset = 1});
}
Result<void> over_whole_row(Call& call) {
  return norm_by(call, {.is_over_row = true});
}

// The row in front of the first is where the host kept it, in the same buffer; the first of a
// buffer stays itself.
Result<void> row_before(Call& call) {
  const plumb_op_norm& norm = call.op().as.norm;
  const uint64_t width = output_width(call.facts()), T = call.op().n_rows;
  const bool has_before = norm.in.offset_bytes >= 4 * width;
  PLUMB_ASSIGN(const std::span<float> rows, call.room<float>((T + 1) * width));
  const plumb_slice from{norm.in.buffer, norm.in.offset_bytes - (has_before ? 4 * width : 0)};
  PLUMB_TRY(call.read_to(from, std::as_writable_bytes(rows.subspan(has_before ? 0 : width,
                                                                   (T + has_before) * width))));
  if (!has_before) std::copy_n(rows.begin() + static_cast<int64_t>(width), width, rows.begin());
  plumb_op op = call.op();
  PLUMB_ASSIGN(op.as.norm.in, call.put(rows.first(T * width)));
  return call.run(op);
}

constexpr Fault kFaults[] = {
    {.name = "norm_epsilon",
     .breaks = "epsilon is multiplied by amount",
     .ops = kNorms,
     .amount = {10, 0, 1e6},
     .change_record = other_epsilon},
    {.name = "norm_epsilon_outside_root",
     .breaks = "epsilon is added to the root instead of under it",
     .ops = kNorms,
     .misfit = has_whole_weights,
     .run = epsilon_outside_root},
    {.name = "norm_mean_subtracted",
     .breaks = "LayerNorm instead of RMSNorm",
     .ops = {PLUMB_OP_RMS_NORM},
     .change_record = subtract_mean},
    {.name = "norm_weight_plus_one",
     .breaks = "1 is added to each weight",
     .ops = kNorms,
     .misfit = has_weight,
     .run = weight_plus_one},
    {.name = "norm_weight_missing",
     .breaks = "weights are taken for 1",
     .ops = kNorms,
     .misfit = has_weight,
     .change_record = forget_weight},
    {.name = "norm_whole_row",
     .breaks = "a norm of each head is taken over the whole row",
     .ops = kNorms,
     .misfit = has_groups,
     .run = over_whole_row},
    {.name = "logits_row_off_by_one",
     .breaks =
         "each row is normed from the row before it, where the buffer has one: for output_norm",
     .ops = kNorms,
     .run = row_before},
};

}  // namespace

std::span<const Fault> norm_faults() {
  return kFaults;
}

}  // namespace plumbline::fault
