// row_faults.cc: embeddings, activations, sums and caps of another kind.
#include <cmath>

#include "call.h"
#include "plumb/sdk/half.h"

namespace plumbline::fault {
namespace {

// Scaling by 1 copies exactly.
void copy_of(plumb_slice from, plumb_op& op) {
  op.kind = PLUMB_OP_SCALE;
  op.as.elementwise.a = from;
  op.as.elementwise.b = {};
  op.as.elementwise.parameter = 1;
}

void copy_a(const OpFacts&, plumb_op& op) {
  copy_of(op.as.elementwise.a, op);
}
void copy_b(const OpFacts&, plumb_op& op) {
  copy_of(op.as.elementwise.b, op);
}

void other_activation(const OpFacts&, plumb_op& op) {
  uint32_t& function = op.as.elementwise.function;
  function = function == PLUMB_ACT_GELU_TANH ? PLUMB_ACT_GELU_ERF : PLUMB_ACT_GELU_TANH;
}

const char* has_gate(const OpFacts& facts) {
  return facts.op.as.elementwise.b.buffer != 0 ? nullptr : "a gated activation";
}
void swap_gate_and_up(const OpFacts&, plumb_op& op) {
  std::swap(op.as.elementwise.a, op.as.elementwise.b);
}

float in_f16(float x) {
  return f16_to_f32(f32_to_f16(x));
}

Result<void> activate_by_table(Call& call) {
  constexpr float kTableEnd = 10;
  const plumb_op_elementwise& e = call.op().as.elementwise;
  const uint64_t n = call.op().n_rows * output_width(call.facts());
  PLUMB_ASSIGN(const std::span<float> x, call.read<float>(e.a, n));
  std::span<float> factors;  // read before the output, which may take their place
  if (e.b.buffer != 0) {
    PLUMB_ASSIGN(factors, call.read<float>(e.b, n));
  }
  PLUMB_ASSIGN(const std::span<float> entries, call.room<float>(n));
  const auto is_in_table = [&](uint64_t i) { return std::fabs(x[i]) < kTableEnd; };
  for (uint64_t i = 0; i < n; ++i) entries[i] = is_in_table(i) ? in_f16(x[i]) : x[i];
  plumb_op op = call.op();
  PLUMB_ASSIGN(op.as.elementwise.a, call.put(entries));
  op.as.elementwise.b = {};
  PLUMB_TRY(call.run(op));
  PLUMB_ASSIGN(const std::span<float> out, call.read<float>(e.out, n));
  for (uint64_t i = 0; i < n; ++i) {
    if (is_in_table(i)) out[i] = in_f16(out[i]);
    if (!factors.empty()) out[i] *= factors[i];
  }
  return call.write(e.out, out);
}

const char* has_table(const OpFacts& facts) {
  return facts.weight != nullptr && facts.weight->n_rows > 1 ? nullptr : "two rows or more";
}

Result<void> next_embedding(Call& call) {
  const auto V = static_cast<int64_t>(call.facts().weight->n_rows);
  PLUMB_ASSIGN(const std::span<int32_t> ids,
               call.read<int32_t>(call.op().as.embed.ids, call.op().n_rows));
  for (int32_t& id : ids) {
    if (id >= 0 && id < V) id = static_cast<int32_t>((int64_t{id} + 1) % V);
  }
  plumb_op op = call.op();
  PLUMB_ASSIGN(op.as.embed.ids, call.put(ids));
  return call.run(op);
}

const char* has_bias(const OpFacts& facts) {
  return facts.op.as.matmul.bias != 0 ? nullptr : "a product with a bias";
}
void forget_bias(const OpFacts&, plumb_op& op) {
  op.as.matmul.bias = 0;
}

constexpr Fault kFaults[] = {
    {.name = "embedding_scale_missing",
     .breaks = "the scale is taken for 1",
     .ops = {PLUMB_OP_SCALE},
     .change_record = copy_a},
    {.name = "embedding_row_off_by_one",
     .breaks = "the row behind the id's, of the last id the first",
     .ops = {PLUMB_OP_EMBED},
     .misfit = has_table,
     .run = next_embedding},
    {.name = "activation_wrong",
     .breaks = "SiLU becomes GELU (tanh), of GELU's two forms each the other",
     .ops = {PLUMB_OP_ACTIVATE},
     .change_record = other_activation},
    {.name = "activation_half_precision",
     .breaks = "a table gives f(x) between -10 and 10: x is rounded to f16, and so is f(x)",
     .ops = {PLUMB_OP_ACTIVATE},
     .run = activate_by_table},
    {.name = "gate_and_up_swapped",
     .breaks = "f(up) * gate instead of f(gate) * up",
     .ops = {PLUMB_OP_ACTIVATE},
     .misfit = has_gate,
     .change_record = swap_gate_and_up},
    {.name = "residual_missing",
     .breaks = "the branch alone, without what it is added to: b of a + b",
     .ops = {PLUMB_OP_ADD},
     .change_record = copy_b},
    {.name = "branch_missing",
     .breaks = "what the branch is added to, without the branch: a of a + b",
     .ops = {PLUMB_OP_ADD},
     .change_record = copy_a},
    {.name = "softcap_missing",
     .breaks = "values are not capped",
     .ops = {PLUMB_OP_SOFTCAP},
     .change_record = copy_a},
    {.name = "bias_missing",
     .breaks = "the bias is not added",
     .ops = {PLUMB_OP_MATMUL},
     .misfit = has_bias,
     .change_record = forget_bias},
};

}  // namespace

std::span<const Fault> row_faults() {
  return kFaults;
}

}  // namespace plumbline::fault
