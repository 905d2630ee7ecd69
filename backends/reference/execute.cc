#include "execute.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "naive_ops.h"
#include "plumb/sdk/abi.h"
#include "plumb/sdk/blocks.h"

namespace plumbline::reference {

namespace {

struct OpKind {
  uint32_t kind;
  const char* name;
  plumb_status (*run)(const OpCall&);
};

constexpr std::array<OpKind, 13> kOpKinds = {{
    {PLUMB_OP_EMBED, "embed", embed},
    {PLUMB_OP_RMS_NORM, "rms_norm", rms_norm},
    {PLUMB_OP_LAYER_NORM, "layer_norm", layer_norm},
    {PLUMB_OP_QUANTIZE, "quantize", quantize},
    {PLUMB_OP_MATMUL, "matmul", matmul},
    {PLUMB_OP_ROPE, "rope", rope},
    {PLUMB_OP_KV_APPEND, "kv_append", kv_append},
    {PLUMB_OP_ATTEND, "attend", attend},
    {PLUMB_OP_ACTIVATE, "activate", activate},
    {PLUMB_OP_ADD, "add", add},
    {PLUMB_OP_SCALE, "scale", scale},
    {PLUMB_OP_SOFTCAP, "softcap", softcap},
    {PLUMB_OP_ARGMAX, "argmax", argmax},
}};

const OpKind* find_kind(uint32_t kind) {
  for (const OpKind& known : kOpKinds) {
    if (known.kind == kind) return &known;
  }
  return nullptr;
}

/// The record if it can be read: long enough, of a known kind, with a row.
plumb_status check_record(const plumb_op& op, plumb_error* error) {
  if (!PLUMB_HAS(&op, plumb_op, as)) {
    return failf(error, PLUMB_INVALID_ARGUMENT, "struct_bytes %u; expected at least %zu",
                 op.struct_bytes, sizeof(plumb_op));
  }
  if (find_kind(op.kind) == nullptr)
    return failf(error, PLUMB_UNSUPPORTED, "op kind %u is unknown", op.kind);
  if (op.n_rows == 0) return fail(error, PLUMB_INVALID_ARGUMENT, "n_rows: 0; expected at least 1");
  return PLUMB_OK;
}

/// Says which op an error is of: in op_id, and in front of the message.
plumb_status at_op(const plumb_op& op, plumb_status status, plumb_error* error) {
  if (status == PLUMB_OK || error == nullptr) return status;
  if (PLUMB_HAS(error, plumb_error, op_id)) error->op_id = op.id;
  if (error->message == nullptr) return status;
  char reason[512];
  const size_t reason_bytes = std::min<size_t>(error->message_bytes, sizeof reason);
  std::copy_n(error->message, reason_bytes, reason);
  const OpKind* kind = find_kind(op.kind);
  return failf(error, status, "op %u %s: %.*s", op.id, kind == nullptr ? "" : kind->name,
               static_cast<int>(reason_bytes), reason);
}

/// The op behind `op`: a host of a later minor version may write longer records.
const plumb_op* next(const plumb_op* op, uint32_t op_bytes) {
  return reinterpret_cast<const plumb_op*>(reinterpret_cast<const std::byte*>(op) + op_bytes);
}

/// Calls visit(op) for each record until one fails.
template <typename Visit>
plumb_status for_each_op(const plumb_op* ops, uint32_t n_ops, plumb_error* error, Visit&& visit) {
  if (ops == nullptr && n_ops != 0) return fail(error, PLUMB_INVALID_ARGUMENT, "ops: missing");
  const plumb_op* op = ops;
  for (uint32_t i = 0; i < n_ops; ++i, op = next(op, ops->struct_bytes)) {
    plumb_status status = check_record(*op, error);
    if (status == PLUMB_OK) status = visit(*op);
    if (status != PLUMB_OK) return at_op(*op, status, error);
  }
  return PLUMB_OK;
}

}  // namespace

plumb_status plan(State& state, const plumb_op* ops, uint32_t n_ops, plumb_error* error) {
  const plumb_status status = for_each_op(ops, n_ops, error, [&](const plumb_op& op) {
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
  return for_each_op(ops, n_ops, error, [&](const plumb_op& op) {
    return find_kind(op.kind)->run(OpCall{state, op, *worker, part, n_parts, error});
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
    const FormatInfo* info = find_format(query->weight_format);
    const uint64_t row_values = is_matmul ? query->n_in : query->n_out;
    if (info == nullptr || info->format == PLUMB_I32 || row_values % info->block_values != 0) {
      return failf(error, PLUMB_UNSUPPORTED, "%s: weights of format %d in rows of %llu", kind->name,
                   query->weight_format, static_cast<unsigned long long>(row_values));
    }
    const bool is_pair =
        query->in_format == PLUMB_F32 || (query->in_format == PLUMB_ACT_Q8 && info->is_quantised);
    if (is_matmul && !is_pair) {
      return failf(error, PLUMB_UNSUPPORTED, "matmul: activations of format %d with weights %s",
                   query->in_format, info->name.data());
    }
  }
  if (query->kind == PLUMB_OP_QUANTIZE && query->n_in % PLUMB_QK != 0) {
    return failf(error, PLUMB_UNSUPPORTED, "quantize: width %llu; expected a multiple of 32",
                 static_cast<unsigned long long>(query->n_in));
  }
  const uint32_t last_variant = query->kind == PLUMB_OP_ACTIVATE ? PLUMB_ACT_GELU_ERF
                                : query->kind == PLUMB_OP_ROPE   ? PLUMB_ROPE_INTERLEAVED
                                : query->kind == PLUMB_OP_ATTEND ? PLUMB_MASK_BITMAP
                                                                 : UINT32_MAX;
  if (query->variant > last_variant) {
    return failf(error, PLUMB_UNSUPPORTED, "%s: variant %u is unknown", kind->name, query->variant);
  }
  return PLUMB_OK;
}

}  // namespace plumbline::reference
