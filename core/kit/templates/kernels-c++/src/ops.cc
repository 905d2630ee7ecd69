// Ops as the host sends them: checked, then cut into parts.
#include <plumb/sdk/kernels/op_list.h>
#include <plumb/sdk/kernels/slice_args.h>

#include "kernels.h"

namespace kernels {
namespace {

using plumbline::fail;
using plumbline::part_begin;

/// One op, of which part `part` of n_parts is to be done.
struct OpCall {
  const State& state;
  const plumb_op& op;
  uint32_t part, n_parts;
  plumb_error* error;
};

plumb_status run_matmul(const OpCall& call) {
  const plumb_op_matmul& op = call.op.as.matmul;
  const uint64_t n_rows = call.op.n_rows;
  const Weight* weight = call.state.weights.find(op.weight);
  const Weight* bias = call.state.weights.find(op.bias);
  plumbline::SliceArgs args(call.state, call.op, call.error);
  args.require(weight != nullptr && weight->use == PLUMB_USE_MATMUL && weight->n_out == op.n_out &&
                   weight->n_in == op.n_in,
               "weight: no matrix of that shape");
  args.require(
      op.bias == 0 || (bias != nullptr && bias->use == PLUMB_USE_VECTOR && bias->n_in == op.n_out),
      "bias: no vector of that length");
  args.require(op.in_format == PLUMB_ACT_Q8, "in_format: expected quantised activations");
  const auto* in = args.elements<const Block>("in", op.in, {n_rows, op.n_in / PLUMB_QK});
  auto* out = args.elements<float>("out", op.out, {n_rows, op.n_out});
  if (args.failed()) return args.status();
  matmul(static_cast<const Block*>(weight->values), in,
         bias == nullptr ? nullptr : static_cast<const float*>(bias->values), n_rows, op.n_in,
         op.n_out, part_begin(op.n_out, call.part, call.n_parts),
         part_begin(op.n_out, call.part + 1, call.n_parts), out);
  return PLUMB_OK;
}

plumb_status run_quantize(const OpCall& call) {
  const plumb_op_quantize& op = call.op.as.quantize;
  const uint64_t row_blocks = op.width / PLUMB_QK;
  plumbline::SliceArgs args(call.state, call.op, call.error);
  args.require(op.width % PLUMB_QK == 0, "width: expected a multiple of 32");
  const auto* in = args.elements<const float>("in", op.in, {call.op.n_rows, op.width});
  auto* out = args.elements<Block>("out", op.out, {call.op.n_rows, row_blocks});
  if (args.failed()) return args.status();
  const uint64_t n_blocks = call.op.n_rows * row_blocks;
  const uint64_t last = part_begin(n_blocks, call.part + 1, call.n_parts);
  for (uint64_t b = part_begin(n_blocks, call.part, call.n_parts); b < last; ++b) {
    if (!quantize(in + b * PLUMB_QK, out[b])) {
      return plumbline::failf(call.error, PLUMB_NUMERIC, "row %llu: a value is NaN or infinite",
                              static_cast<unsigned long long>(b / row_blocks));
    }
  }
  return PLUMB_OK;
}

/// Add an op here, and to supports.
constexpr plumbline::OpKind<OpCall> kOps[] = {
    {PLUMB_OP_MATMUL, "matmul", run_matmul},
    {PLUMB_OP_QUANTIZE, "quantize", run_quantize},
};

}  // namespace

plumb_status supports(const plumb_op_query* query, plumb_error* error) {
  const plumb_status status = plumbline::supports_every_format(
      std::span<const plumbline::OpKind<OpCall>>(kOps), query, error);
  if (status != PLUMB_OK || query->kind != PLUMB_OP_MATMUL) return status;
  if (query->weight_format == PLUMB_Q8_0 && query->in_format == PLUMB_ACT_Q8) return PLUMB_OK;
  return fail(error, PLUMB_UNSUPPORTED, "matmul: expected Q8_0 weights and quantised activations");
}

plumb_status execute(State& state, const plumb_op* ops, uint32_t n_ops, plumb_handle worker,
                     uint32_t part, uint32_t n_parts, plumb_error* error) {
  if (state.workers.find(worker) == nullptr || n_parts == 0 || part >= n_parts)
    return fail(error, PLUMB_INVALID_ARGUMENT, "execute: worker or part");
  return plumbline::for_each_op(std::span<const plumbline::OpKind<OpCall>>(kOps), ops, n_ops, error,
                                [&](const plumb_op& op, const plumbline::OpKind<OpCall>& kind) {
                                  return kind.run({state, op, part, n_parts, error});
                                });
}

}  // namespace kernels
