// op_schema.h: the ops of plumb.kernels/1 as data: names, shapes, formats and rules, for those who
// generate tables, tests or bindings. `plumb plugins schema` prints it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "plumb/ext/kernels.h"

namespace plumbline {

/// A member of an op's record. Shape letters: plumb/base.h; T is n_rows of the op.
struct OpField {
  std::string_view name;
  std::string_view role;  // in, out, weight, kv, parameter
  std::string_view type;  // f32, i32, u64, u32, in_format, act_q8, or any: a weight's format
  std::string_view shape;  // "T,width"; empty: one number, or an object behind a handle
  bool is_optional;  // absent: handle 0, or the zero slice
  uint32_t offset;  // in the record, which lies at offsetof(plumb_op, as)
  uint32_t bytes;
};

/// A value that plumb_op_query.variant may have for this op.
struct OpVariant {
  uint32_t value;
  std::string_view name;
};

struct OpSchema {
  uint32_t kind;  // PLUMB_OP_*
  const char* name;  // as configs and reports say it
  std::string_view record;  // the member of plumb_op.as, and plumb_op_{record}
  std::string_view meaning;
  std::string_view rule;  // of class canonical-1: core/doc/numerics.md
  std::span<const OpField> fields;  // in the record's order; the shapes' letters are fields too
  std::span<const OpVariant> variants;
};

namespace op_schema {

#define PLUMB_OP_FIELD(record, field, role, type, shape, is_optional)           \
  OpField {                                                                     \
    #field, role, type, shape, is_optional, offsetof(plumb_op_##record, field), \
        sizeof(plumb_op_##record::field)                                        \
  }
#define PLUMB_OP_NEEDS(record, field, role, type, shape) \
  PLUMB_OP_FIELD(record, field, role, type, shape, false)
#define PLUMB_OP_MAY(record, field, role, type, shape) \
  PLUMB_OP_FIELD(record, field, role, type, shape, true)
#define PLUMB_OP_NUMBER(record, field, type) PLUMB_OP_NEEDS(record, field, "parameter", type, "")

inline constexpr std::array kEmbed = {
    PLUMB_OP_NEEDS(embed, weight, "weight", "any", "V,D"),
    PLUMB_OP_NEEDS(embed, ids, "in", "i32", "T"),
    PLUMB_OP_NEEDS(embed, out, "out", "f32", "T,D"),
};
inline constexpr std::array kNorm = {
    PLUMB_OP_NEEDS(norm, in, "in", "f32", "T,n_groups,width"),
    PLUMB_OP_NEEDS(norm, out, "out", "f32", "T,n_groups,width"),
    PLUMB_OP_MAY(norm, weight, "weight", "f32", "width"),
    PLUMB_OP_MAY(norm, bias, "weight", "f32", "width"),
    PLUMB_OP_NUMBER(norm, n_groups, "u32"),
    PLUMB_OP_NUMBER(norm, width, "u32"),
    PLUMB_OP_NUMBER(norm, epsilon, "f32"),
};
inline constexpr std::array kQuantize = {
    PLUMB_OP_NEEDS(quantize, in, "in", "f32", "T,width"),
    PLUMB_OP_NEEDS(quantize, out, "out", "act_q8", "T,width"),
    PLUMB_OP_NUMBER(quantize, width, "u32"),
};
inline constexpr std::array kMatmul = {
    PLUMB_OP_NEEDS(matmul, weight, "weight", "any", "n_out,n_in"),
    PLUMB_OP_MAY(matmul, bias, "weight", "f32", "n_out"),
    PLUMB_OP_NEEDS(matmul, in, "in", "in_format", "T,n_in"),
    PLUMB_OP_NEEDS(matmul, out, "out", "f32", "T,n_out"),
    PLUMB_OP_NUMBER(matmul, in_format, "i32"),
    PLUMB_OP_NUMBER(matmul, n_in, "u32"),
    PLUMB_OP_NUMBER(matmul, n_out, "u32"),
};
inline constexpr std::array kRope = {
    PLUMB_OP_NEEDS(rope, in, "in", "f32", "T,n_heads,head_width"),
    PLUMB_OP_NEEDS(rope, out, "out", "f32", "T,n_heads,head_width"),
    PLUMB_OP_NEEDS(rope, positions, "in", "i32", "T"),
    PLUMB_OP_NEEDS(rope, cos_table, "in", "f32", "table_rows,n_rotated/2"),
    PLUMB_OP_NEEDS(rope, sin_table, "in", "f32", "table_rows,n_rotated/2"),
    PLUMB_OP_NUMBER(rope, table_rows, "u32"),
    PLUMB_OP_NUMBER(rope, n_heads, "u32"),
    PLUMB_OP_NUMBER(rope, head_width, "u32"),
    PLUMB_OP_NUMBER(rope, n_rotated, "u32"),
    PLUMB_OP_NUMBER(rope, pairing, "u32"),
};
inline constexpr std::array kKvAppend = {
    PLUMB_OP_NEEDS(kv_append, kv, "kv", "f32", "S,K,C"),
    PLUMB_OP_NEEDS(kv_append, k, "in", "f32", "T,K,C"),
    PLUMB_OP_NEEDS(kv_append, v, "in", "f32", "T,K,C"),
    PLUMB_OP_NEEDS(kv_append, positions, "in", "i32", "T"),
    PLUMB_OP_NUMBER(kv_append, first_row, "u32"),
};
inline constexpr std::array kAttend = {
    PLUMB_OP_NEEDS(attend, kv, "kv", "f32", "S,K,C"),
    PLUMB_OP_NEEDS(attend, q, "in", "f32", "T,n_heads,C"),
    PLUMB_OP_NEEDS(attend, out, "out", "f32", "T,n_heads,C"),
    PLUMB_OP_NEEDS(attend, positions, "in", "i32", "T"),
    PLUMB_OP_MAY(attend, bitmap, "in", "u64", "T,ceil(T/64)"),
    PLUMB_OP_NUMBER(attend, n_rows_kv, "u32"),
    PLUMB_OP_NUMBER(attend, first_row, "u32"),
    PLUMB_OP_NUMBER(attend, n_heads, "u32"),
    PLUMB_OP_NUMBER(attend, mask, "u32"),
    PLUMB_OP_NUMBER(attend, window, "u32"),
    PLUMB_OP_NUMBER(attend, scale, "f32"),
    PLUMB_OP_NUMBER(attend, softcap, "f32"),
};
inline constexpr std::array kElementwise = {
    PLUMB_OP_NEEDS(elementwise, a, "in", "f32", "T,width"),
    PLUMB_OP_MAY(elementwise, b, "in", "f32", "T,width"),
    PLUMB_OP_NEEDS(elementwise, out, "out", "f32", "T,width"),
    PLUMB_OP_NUMBER(elementwise, width, "u32"),
    PLUMB_OP_NUMBER(elementwise, function, "u32"),
    PLUMB_OP_NUMBER(elementwise, parameter, "f32"),
};
inline constexpr std::array kArgmax = {
    PLUMB_OP_NEEDS(argmax, in, "in", "f32", "T,width"),
    PLUMB_OP_NEEDS(argmax, out, "out", "i32", "T"),
    PLUMB_OP_NUMBER(argmax, width, "u32"),
};

#undef PLUMB_OP_FIELD
#undef PLUMB_OP_NEEDS
#undef PLUMB_OP_MAY
#undef PLUMB_OP_NUMBER

inline constexpr std::array<OpVariant, 2> kPairings = {{
    {PLUMB_ROPE_HALF, "half"},
    {PLUMB_ROPE_INTERLEAVED, "interleaved"},
}};
inline constexpr std::array<OpVariant, 3> kMasks = {{
    {PLUMB_MASK_CAUSAL, "causal"},
    {PLUMB_MASK_WINDOW, "window"},
    {PLUMB_MASK_BITMAP, "bitmap"},
}};
inline constexpr std::array<OpVariant, 3> kActivations = {{
    {PLUMB_ACT_SILU, "silu"},
    {PLUMB_ACT_GELU_TANH, "gelu_tanh"},
    {PLUMB_ACT_GELU_ERF, "gelu_erf"},
}};

}  // namespace op_schema

/// In the order of PLUMB_OP_*.
inline constexpr std::array<OpSchema, 13> kOpSchemas = {{
    {PLUMB_OP_EMBED,
     "embed",
     "embed",
     "out[t] = row ids[t] of the weight, as f32",
     "4: the format's own expression",
     op_schema::kEmbed,
     {}},
    {PLUMB_OP_RMS_NORM,
     "rms_norm",
     "norm",
     "x / sqrt(mean(x^2) + epsilon) * weight; no bias",
     "5: 16 strided partial sums, folded by halves",
     op_schema::kNorm,
     {}},
    {PLUMB_OP_LAYER_NORM,
     "layer_norm",
     "norm",
     "(x - mean) / sqrt(var + epsilon) * weight + bias",
     "5: 16 strided partial sums, folded by halves",
     op_schema::kNorm,
     {}},
    {PLUMB_OP_QUANTIZE,
     "quantize",
     "quantize",
     "blocks of 32 int8 codes with a scale, in a layout of the backend's own; NUMERIC for NaN and "
     "infinity",
     "2: d = amax / 127, q = round_half_even(x * (127 / amax))",
     op_schema::kQuantize,
     {}},
    {PLUMB_OP_MATMUL,
     "matmul",
     "matmul",
     "out[t,n] = sum over k of in[t,k] * weight[n,k], and bias[n]",
     "1, 3, 4: for each output, blocks of 32 inputs in order",
     op_schema::kMatmul,
     {}},
    {PLUMB_OP_ROPE, "rope", "rope", "pairs of each head rotated by the tables' angles",
     "7: a*cos - b*sin, a*sin + b*cos, uncontracted", op_schema::kRope, op_schema::kPairings},
    {PLUMB_OP_KV_APPEND,
     "kv_append",
     "kv_append",
     "writes T rows behind first_row",
     "6: exact; an f16 cache rounds to nearest even",
     op_schema::kKvAppend,
     {}},
    {PLUMB_OP_ATTEND, "attend", "attend",
     "softmax(q.k * scale) v over the visible rows; NUMERIC for a visible score that is not finite",
     "5, 6: rows in order", op_schema::kAttend, op_schema::kMasks},
    {PLUMB_OP_ACTIVATE, "activate", "elementwise", "f(a), or f(a) * b where b is there",
     "expressions; exp, tanh and erf of the class", op_schema::kElementwise,
     op_schema::kActivations},
    {PLUMB_OP_ADD,
     "add",
     "elementwise",
     "a + b; b is required",
     "one addition",
     op_schema::kElementwise,
     {}},
    {PLUMB_OP_SCALE,
     "scale",
     "elementwise",
     "a * parameter; no b",
     "one product",
     op_schema::kElementwise,
     {}},
    {PLUMB_OP_SOFTCAP,
     "softcap",
     "elementwise",
     "parameter * tanh(a / parameter); no b",
     "expressions; tanh of the class",
     op_schema::kElementwise,
     {}},
    {PLUMB_OP_ARGMAX,
     "argmax",
     "argmax",
     "the lowest index of each row's largest element; NUMERIC for NaN and infinity",
     "exact",
     op_schema::kArgmax,
     {}},
}};

/// Null for a kind that is none of this version's.
constexpr const OpSchema* find_op_schema(uint32_t kind) {
  for (const OpSchema& op : kOpSchemas) {
    if (op.kind == kind) return &op;
  }
  return nullptr;
}

}  // namespace plumbline
