// op_list.h: lists of op records, for authors of kernels plugins: reading them safely, telling
// which op an error is of, and cutting an op in parts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "plumb/ext/kernels.h"
#include "plumb/sdk/abi.h"
#include "plumb/sdk/blocks.h"

namespace plumbline {

/// A kind of op that a backend has. Call: what its functions are called with.
template <typename Call>
struct OpKind {
  uint32_t kind;  // PLUMB_OP_*
  const char* name;
  plumb_status (*run)(const Call& call);
  uint32_t n_variants = 0;  // of plumb_op_query.variant; 0: not asked
};

/// Null for a kind that the backend does not have.
template <typename Call>
const OpKind<Call>* find_kind(std::span<const OpKind<Call>> kinds, uint32_t kind) {
  for (const OpKind<Call>& known : kinds) {
    if (known.kind == kind) return &known;
  }
  return nullptr;
}

/// Where part p of n_parts begins in n items: n * p / n_parts without overflow. Part p has the
/// items [part_begin(p), part_begin(p + 1)).
constexpr uint64_t part_begin(uint64_t n, uint32_t p, uint32_t n_parts) {
  return n / n_parts * p + n % n_parts * p / n_parts;
}

/// Says which op an error is of: in op_id, and in front of the message.
inline plumb_status at_op(const plumb_op& op, const char* kind_name, plumb_status status,
                          plumb_error* error) {
  if (error == nullptr) return status;
  if (PLUMB_HAS(error, plumb_error, op_id)) error->op_id = op.id;
  if (error->message == nullptr) return status;
  char reason[512];
  const size_t n = std::min<size_t>({error->message_bytes, error->capacity_bytes, sizeof reason});
  std::copy_n(error->message, n, reason);
  return failf(error, status, "op %u %s: %.*s", op.id, kind_name, static_cast<int>(n), reason);
}

/// Calls visit(op, kind) for each record until one fails. Records lie ops[0].struct_bytes apart: a
/// host of a later minor version may write longer ones.
/// Fails INVALID_ARGUMENT (a record that is too short or has no rows), UNSUPPORTED (its kind), and
/// as visit does; the error names the op.
template <typename Call, typename Visit>
plumb_status for_each_op(std::span<const OpKind<Call>> kinds, const plumb_op* ops, uint32_t n_ops,
                         plumb_error* error, Visit&& visit) {
  if (ops == nullptr && n_ops != 0) return fail(error, PLUMB_INVALID_ARGUMENT, "ops: missing");
  const auto* at = reinterpret_cast<const std::byte*>(ops);
  for (uint32_t i = 0; i < n_ops; ++i, at += ops->struct_bytes) {
    const plumb_op& op = *reinterpret_cast<const plumb_op*>(at);
    if (!PLUMB_HAS(&op, plumb_op, id)) {
      return failf(error, PLUMB_INVALID_ARGUMENT,
                   "op record %u: struct_bytes %u; expected at least %zu", i, op.struct_bytes,
                   sizeof(plumb_op));
    }
    const OpKind<Call>* kind = find_kind(kinds, op.kind);
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
    if (status != PLUMB_OK) {
      return at_op(op, kind == nullptr ? "" : kind->name, status, error);
    }
  }
  return PLUMB_OK;
}

/// `supports` of a backend whose kinds take every format of a file in any shape that the format
/// has. Fails INVALID_ARGUMENT (the query), UNSUPPORTED (what it asks for).
template <typename Call>
plumb_status supports_every_format(std::span<const OpKind<Call>> kinds, const plumb_op_query* query,
                                   plumb_error* error) {
  if (query == nullptr || !PLUMB_HAS(query, plumb_op_query, variant)) {
    return fail(error, PLUMB_INVALID_ARGUMENT,
                "supports: query is missing or its struct_bytes too small");
  }
  const OpKind<Call>* kind = find_kind(kinds, query->kind);
  if (kind == nullptr) return failf(error, PLUMB_UNSUPPORTED, "op kind %u is unknown", query->kind);
  const bool is_matmul = query->kind == PLUMB_OP_MATMUL;
  if (is_matmul || query->kind == PLUMB_OP_EMBED) {
    const FormatInfo* info = find_format(query->weight_format);
    const uint64_t width = is_matmul ? query->n_in : query->n_out;
    if (info == nullptr || info->format == PLUMB_I32 || width % info->block_values != 0) {
      return failf(error, PLUMB_UNSUPPORTED, "%s: weights of format %d in rows of %llu", kind->name,
                   query->weight_format, static_cast<unsigned long long>(width));
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
  if (kind->n_variants != 0 && query->variant >= kind->n_variants) {
    return failf(error, PLUMB_UNSUPPORTED, "%s: variant %u is unknown", kind->name, query->variant);
  }
  return PLUMB_OK;
}

}  // namespace plumbline
