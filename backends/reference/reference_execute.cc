#include "reference_execute.h"

#include <algorithm>
#include <array>

#include "naive_ops.h"

namespace plumbline::reference {

namespace {

constexpr std::array<OpKind<OpCall>, 13> kOpKinds = {{
    {PLUMB_OP_EMBED, "embed", embed},
    {PLUMB_OP_RMS_NORM, "rms_norm", rms_norm},
    {PLUMB_OP_LAYER_NORM, "layer_norm", layer_norm},
    {PLUMB_OP_QUANTIZE, "quantize", quantize},
    {PLUMB_OP_MATMUL, "matmul", matmul},
    {PLUMB_OP_ROPE, "rope", rope, 2},
    {PLUMB_OP_KV_APPEND, "kv_append", kv_append},
    {PLUMB_OP_ATTEND, "attend", attend, 3},
    {PLUMB_OP_ACTIVATE, "activate", activate, 3},
    {PLUMB_OP_ADD, "add", add},
    {PLUMB_OP_SCALE, "scale", scale},
    {PLUMB_OP_SOFTCAP, "softcap", softcap},
    {PLUMB_OP_ARGMAX, "argmax", argmax},
}};

std::span<const OpKind<OpCall>> kinds() {
  return kOpKinds;
}

}  // namespace

plumb_status plan(State& state, const plumb_op* ops, uint32_t n_ops, plumb_error* error) {
  const plumb_status status =
      for_each_op(kinds(), ops, n_ops, error, [&](const plumb_op& op, const auto&) {
        if (op.kind == PLUMB_OP_MATMUL) {
          const Weight* weight = state.weights.find(op.as.matmul.weight);
          if (weight == nullptr)
            return fail(error, PLUMB_INVALID_ARGUMENT, "weight: not a live handle");
          state.planned_floats = std::max(state.planned_floats, weight->n_columns);
        } else if (op.kind == PLUMB_OP_ATTEND) {
          const KvCache* cache = state.caches.find(op.as.attend.kv);
          if (cache == nullptr)
            return fail(error, PLUMB_INVALID_ARGUMENT, "kv: not a live handle of a KV cache");
          state.planned_doubles =
              std::max(state.planned_doubles, uint64_t{cache->capacity_rows} + cache->head_width);
        }
        return PLUMB_OK;
      });
  state.workers.for_each([&](Worker& worker) {
    worker.floats.resize(state.planned_floats);
    worker.doubles.resize(state.planned_doubles);
  });
  return status;
}

plumb_status execute(const State& state, const plumb_op* ops, uint32_t n_ops,
                     plumb_handle worker_handle, uint32_t part, uint32_t n_parts,
                     plumb_error* error) {
  Worker* worker = state.workers.find(worker_handle);
  if (worker == nullptr) return fail(error, PLUMB_INVALID_ARGUMENT, "worker: not a live handle");
  if (part >= n_parts) return failf(error, PLUMB_INVALID_ARGUMENT, "part %u of %u", part, n_parts);
  return for_each_op(kinds(), ops, n_ops, error, [&](const plumb_op& op, const auto& kind) {
    return kind.run(OpCall{state, op, *worker, part, n_parts, error});
  });
}

plumb_status supports(const plumb_op_query* query, plumb_error* error) {
  return supports_every_format(kinds(), query, error);
}

}  // namespace plumbline::reference
