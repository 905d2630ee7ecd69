// row_faults.cc: embeddings, activations, sums and caps of another kind.
#include "call.h"

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
