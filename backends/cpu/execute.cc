// execute.cc: lists of ops: what is supported, how much scratch they need, and running them.
#include <algorithm>
#include <array>

#include "cpu_op_args.h"
#include "ops.h"

namespace plumbline::cpu {
namespace {

constexpr std::array<OpKind<OpCall>, 13> kOpKinds = {{
    {PLUMB_OP_EMBED, "embed", run_embed, 0},
    {PLUMB_OP_RMS_NORM, "rms_norm", run_norm, 0},
    {PLUMB_OP_LAYER_NORM, "layer_norm", run_norm, 0},
    {PLUMB_OP_QUANTIZE, "quantize", run_quantize, 0},
    {PLUMB_OP_MATMUL, "matmul", run_matmul, 0},
    {PLUMB_OP_ROPE, "rope", run_rope, 2},
    {PLUMB_OP_KV_APPEND, "kv_append", run_kv_append, 0},
    {PLUMB_OP_ATTEND, "attend", run_attend, 3},
    {PLUMB_OP_ACTIVATE, "activate", run_elementwise, 3},
    {PLUMB_OP_ADD, "add", run_elementwise, 0},
    {PLUMB_OP_SCALE, "scale", run_elementwise, 0},
    {PLUMB_OP_SOFTCAP, "softcap", run_elementwise, 0},
    {PLUMB_OP_ARGMAX, "argmax", run_argmax, 0},
}};

std::span<const OpKind<OpCall>> kinds() {
  return kOpKinds;
}

/// Scratch of an op. INVALID_ARGUMENT if it names no live weight or cache.
plumb_status scratch_of(const State& state, const plumb_op& op, uint64_t& bytes,
                        plumb_error* error) {
  if (op.kind == PLUMB_OP_MATMUL) {
    const Weight* weight = state.weights.find(op.as.matmul.weight);
    if (weight == nullptr || weight->layout == nullptr) {
      return fail(error, PLUMB_INVALID_ARGUMENT, "weight: not a live handle of a matrix");
    }
    bytes = matmul_scratch_bytes(*weight->layout, weight->n_columns,
                                 op.as.matmul.in_format == PLUMB_ACT_Q8);
  } else if (op.kind == PLUMB_OP_ATTEND) {
    const KvCache* cache = state.caches.find(op.as.attend.kv);
    if (cache == nullptr)
      return fail(error, PLUMB_INVALID_ARGUMENT, "kv: not a live handle of a KV cache");
    bytes = attend_scratch_bytes(cache->view.capacity);
  }
  return PLUMB_OK;
}

plumb_status grow(const State& state, Worker& worker, uint64_t bytes, plumb_error* error) {
  if (worker.scratch.bytes() >= bytes) return PLUMB_OK;
  std::optional<Memory> memory = state.engine->allocate(bytes);
  if (!memory) {
    return failf(error, PLUMB_INTERNAL, "worker: %s has no room for %llu bytes of scratch",
                 state.engine->name_of_memory(), static_cast<unsigned long long>(bytes));
  }
  worker.scratch = std::move(*memory);
  return PLUMB_OK;
}

}  // namespace

plumb_status plan(State& state, const plumb_op* ops, uint32_t n_ops, plumb_error* error) {
  const std::lock_guard lock(state.plan_mutex);
  plumb_status status =
      for_each_op(kinds(), ops, n_ops, error, [&](const plumb_op& op, const auto&) {
        uint64_t bytes = 0;
        const plumb_status found = scratch_of(state, op, bytes, error);
        state.scratch_bytes = std::max(state.scratch_bytes, bytes);
        return found;
      });
  state.workers.for_each([&](Worker& worker) {
    if (status == PLUMB_OK) status = grow(state, worker, state.scratch_bytes, error);
  });
  return status;
}

plumb_status create_worker(State& state, plumb_handle* worker, plumb_error* error) {
  const std::lock_guard lock(state.plan_mutex);
  auto made = std::make_unique<Worker>();
  made->engine = state.engine->create_worker(error);
  if (made->engine == nullptr) return PLUMB_INTERNAL;
  if (const plumb_status status = grow(state, *made, state.scratch_bytes, error);
      status != PLUMB_OK)
    return status;
  *worker = state.workers.add(std::move(made));
  return *worker != 0 ? PLUMB_OK : fail(error, PLUMB_INTERNAL, "worker: too many");
}

plumb_status execute(const State& state, const plumb_op* ops, uint32_t n_ops,
                     plumb_handle worker_handle, uint32_t part, uint32_t n_parts,
                     plumb_error* error) {
  const Worker* worker = state.workers.find(worker_handle);
  if (worker == nullptr) return fail(error, PLUMB_INVALID_ARGUMENT, "worker: not a live handle");
  if (part >= n_parts) return failf(error, PLUMB_INVALID_ARGUMENT, "part %u of %u", part, n_parts);
  return for_each_op(kinds(), ops, n_ops, error, [&](const plumb_op& op, const auto& kind) {
    return kind.run(OpCall{state, op, *worker, part, n_parts, error});
  });
}

plumb_status supports(const plumb_op_query* query, plumb_error* error) {
  return supports_every_format(kinds(), query, error);
}

}  // namespace plumbline::cpu
