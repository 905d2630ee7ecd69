// execute.cc: lists of ops: what is supported, how much scratch they need, and running them.
#include <algorithm>
#include <array>
#include <cstddef>

#include "op_args.h"
#include "ops.h"

namespace plumbline::cpu {
namespace {

struct OpKind {
  uint32_t kind;
  const char* name;
  plumb_status (*run)(const OpCall&);
  uint32_t n_variants;  // of plumb_op_query.variant; 0: not asked
};

constexpr std::array<OpKind, 13> kOpKinds = {{
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

const OpKind* find_kind(uint32_t kind) {
  for (const OpKind& known : kOpKinds) {
    if (known.kind == kind) return &known;
  }
  return nullptr;
}

/// Says which op an error is of: in op_id, and in front of the message.
plumb_status at_op(const plumb_op& op, plumb_status status, plumb_error* error) {
  if (error == nullptr) return status;
  if (PLUMB_HAS(error, plumb_error, op_id)) error->op_id = op.id;
  if (error->message == nullptr) return status;
  char reason[512];
  const size_t n = std::min<size_t>({error->message_bytes, error->capacity_bytes, sizeof reason});
  std::copy_n(error->message, n, reason);
  const OpKind* kind = find_kind(op.kind);
  return failf(error, status, "op %u %s: %.*s", op.id, kind == nullptr ? "" : kind->name,
               static_cast<int>(n), reason);
}

/// Calls visit(op, kind) for each record until one fails. Records lie ops[0].struct_bytes apart: a
/// host of a later minor version may write longer ones.
template <typename Visit>
plumb_status for_each_op(const plumb_op* ops, uint32_t n_ops, plumb_error* error, Visit&& visit) {
  if (ops == nullptr && n_ops != 0) return fail(error, PLUMB_INVALID_ARGUMENT, "ops: missing");
  const auto* at = reinterpret_cast<const std::byte*>(ops);
  for (uint32_t i = 0; i < n_ops; ++i, at += ops->struct_bytes) {
    const plumb_op& op = *reinterpret_cast<const plumb_op*>(at);
    if (!PLUMB_HAS(&op, plumb_op, id)) {
      return failf(error, PLUMB_INVALID_ARGUMENT,
                   "op record %u: struct_bytes %u; expected at least %zu", i, op.struct_bytes,
                   sizeof(plumb_op));
    }
    const OpKind* kind = find_kind(op.kind);
    plumb_status status = PLUMB_OK;
    if (!PLUMB_HAS(&op, plumb_op, as)) {
      status = failf(error, PLUMB_INVALID_ARGUMENT, "struct_bytes %u; expected at least %zu",
                     op.struct_bytes, sizeof(plumb_op));
    } else if (kind == nullptr) {
      status = failf(error, PLUMB_UNSUPPORTED, "kind %u is unknown", op.kind);
    } else if (op.n_rows == 0) {
      status = fail(error, PLUMB_INVALID_ARGUMENT, "n_rows: 0; expected at least 1");
    } else {
      status = visit(op, *kind);
    }
    if (status != PLUMB_OK) return at_op(op, status, error);
  }
  return PLUMB_OK;
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

plumb_status grow(Worker& worker, uint64_t bytes, plumb_error* error) {
  if (worker.scratch.bytes() >= bytes) return PLUMB_OK;
  std::optional<Memory> memory = Memory::anonymous(bytes);
  if (!memory) {
    return failf(error, PLUMB_INTERNAL, "worker: no memory for %llu bytes of scratch",
                 static_cast<unsigned long long>(bytes));
  }
  worker.scratch = std::move(*memory);
  return PLUMB_OK;
}

}  // namespace

plumb_status plan(State& state, const plumb_op* ops, uint32_t n_ops, plumb_error* error) {
  const std::lock_guard lock(state.plan_mutex);
  plumb_status status = for_each_op(ops, n_ops, error, [&](const plumb_op& op, const OpKind&) {
    uint64_t bytes = 0;
    const plumb_status found = scratch_of(state, op, bytes, error);
    state.scratch_bytes = std::max(state.scratch_bytes, bytes);
    return found;
  });
  state.workers.for_each([&](Worker& worker) {
    if (status == PLUMB_OK) status = grow(worker, state.scratch_bytes, error);
  });
  return status;
}

plumb_status create_worker(State& state, plumb_handle* worker, plumb_error* error) {
  const std::lock_guard lock(state.plan_mutex);
  auto made = std::make_unique<Worker>();
  if (const plumb_status status = grow(*made, state.scratch_bytes, error); status != PLUMB_OK)
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
  return for_each_op(ops, n_ops, error, [&](const plumb_op& op, const OpKind& kind) {
    return kind.run(OpCall{state, op, worker->scratch, part, n_parts, error});
  });
}

plumb_status supports(const plumb_op_query* query, plumb_error* error) {
  if (query == nullptr || !PLUMB_HAS(query, plumb_op_query, variant)) {
    return fail(error, PLUMB_INVALID_ARGUMENT,
                "supports: query is missing or its struct_bytes too small");
  }
  const OpKind* kind = find_kind(query->kind);
  if (kind == nullptr) return failf(error, PLUMB_UNSUPPORTED, "op kind %u is unknown", query->kind);
  const bool is_matmul = query->kind == PLUMB_OP_MATMUL;
  if (is_matmul || query->kind == PLUMB_OP_EMBED) {
    const Layout* layout = find_layout(query->weight_format);
    const uint64_t width = is_matmul ? query->n_in : query->n_out;
    if (layout == nullptr || width % layout->unit_values() != 0) {
      return failf(error, PLUMB_UNSUPPORTED, "%s: weights of format %d in rows of %llu", kind->name,
                   query->weight_format, static_cast<unsigned long long>(width));
    }
    const bool is_pair =
        query->in_format == PLUMB_F32 || (query->in_format == PLUMB_ACT_Q8 && !layout->plain());
    if (is_matmul && !is_pair) {
      return failf(error, PLUMB_UNSUPPORTED,
                   "matmul: activations of format %d with weights of format %d", query->in_format,
                   query->weight_format);
    }
  }
  if (query->kind == PLUMB_OP_QUANTIZE && query->n_in % kBlock != 0) {
    return failf(error, PLUMB_UNSUPPORTED, "quantize: width %llu; expected a multiple of 32",
                 static_cast<unsigned long long>(query->n_in));
  }
  if (kind->n_variants != 0 && query->variant >= kind->n_variants) {
    return failf(error, PLUMB_UNSUPPORTED, "%s: variant %u is unknown", kind->name, query->variant);
  }
  return PLUMB_OK;
}

}  // namespace plumbline::cpu
