// ops.cc: each op: checks first, then its share of the work to the kernels.
#include "ops.h"

#include <algorithm>
#include <climits>
#include <cmath>

#include "cpu_op_args.h"

namespace plumbline::cpu {
namespace {

plumb_status scratch_too_small(const OpCall& call, uint64_t needed) {
  return failf(call.error, PLUMB_INVALID_ARGUMENT,
               "worker: scratch of %llu bytes; the op needs %llu: plan it first",
               static_cast<unsigned long long>(call.worker.scratch.bytes()),
               static_cast<unsigned long long>(needed));
}

}  // namespace

plumb_status run_embed(const OpCall& call) {
  const plumb_op_embed& op = call.op.as.embed;
  OpArgs args(call);
  const Matrix weight = args.matrix(op.weight, PLUMB_USE_EMBED, 0, 0);
  if (args.failed()) return args.status();
  const int32_t* ids = args.numbers("ids", op.ids, weight.n_rows);
  float* out = args.elements<float>("out", op.out, {call.n_rows(), weight.n_columns});
  args.require_apart(ids, out, call.n_rows() * weight.n_columns, "out: expected apart from ids");
  if (args.failed()) return args.status();
  EmbedArgs embed{};
  embed.weight = weight.data;
  embed.ids = ids;
  embed.out = out;
  embed.width = weight.n_columns;
  embed.format = weight.layout->format;
  return call.run(embed, call.share(call.n_rows()));
}

plumb_status run_norm(const OpCall& call) {
  const plumb_op_norm& op = call.op.as.norm;
  const bool is_layer = call.op.kind == PLUMB_OP_LAYER_NORM;
  OpArgs args(call);
  NormArgs norm{};
  norm.in = args.elements<const float>("in", op.in, {call.n_rows(), op.n_groups, op.width});
  norm.out = args.elements<float>("out", op.out, {call.n_rows(), op.n_groups, op.width});
  norm.weight = args.vector("weight", op.weight, op.width);
  norm.bias = args.vector("bias", op.bias, op.width);
  args.require(is_layer || op.bias == 0, "bias: RMS_NORM has none");
  args.require(op.epsilon >= 0 && std::isfinite(op.epsilon), "epsilon: expected 0 or more");
  if (args.failed()) return args.status();
  norm.width = op.width;
  norm.epsilon = op.epsilon;
  norm.layer = is_layer ? 1 : 0;
  return call.run(norm, call.share(call.n_rows() * op.n_groups));
}

plumb_status run_quantize(const OpCall& call) {
  const plumb_op_quantize& op = call.op.as.quantize;
  OpArgs args(call);
  args.require(op.width % kBlock == 0, "width: expected a multiple of 32");
  const float* in = args.elements<const float>("in", op.in, {call.n_rows(), op.width});
  uint8_t* out =
      args.bytes("out", op.out, checked_product(call.n_rows(), ActivationRow{op.width}.bytes()),
                 alignof(ActivationBlock));
  if (args.failed()) return args.status();
  QuantizeArgs quantize{};
  quantize.in = in;
  quantize.out = out;
  quantize.width = op.width;
  return call.run(quantize, call.share(call.n_rows() * (op.width / kBlock)), "in: a value");
}

plumb_status run_matmul(const OpCall& call) {
  const plumb_op_matmul& op = call.op.as.matmul;
  OpArgs args(call);
  args.require(op.n_in != 0 && op.n_out != 0, "n_in, n_out: expected more than 0");
  const Matrix weight = args.matrix(op.weight, PLUMB_USE_MATMUL, op.n_out, op.n_in);
  if (args.failed()) return args.status();
  const bool is_quantised = op.in_format == PLUMB_ACT_Q8;
  if ((!is_quantised && op.in_format != PLUMB_F32) || (is_quantised && weight.layout->plain())) {
    return failf(call.error, PLUMB_UNSUPPORTED,
                 "activations of format %d with weights of format %d", op.in_format,
                 weight.layout->format);
  }
  const std::optional<uint64_t> in_bytes =
      checked_product(call.n_rows(), is_quantised ? ActivationRow{op.n_in}.bytes()
                                                  : uint64_t{op.n_in} * sizeof(float));
  MatmulArgs matmul{};
  matmul.in = args.bytes("in", op.in, in_bytes, alignof(float));
  matmul.out = args.elements<float>("out", op.out, {call.n_rows(), op.n_out});
  matmul.bias = args.vector("bias", op.bias, op.n_out);
  if (args.failed()) return args.status();
  const uint64_t needed = matmul_scratch_bytes(*weight.layout, op.n_in, is_quantised);
  if (call.worker.scratch.bytes() < needed) return scratch_too_small(call, needed);
  matmul.format = weight.layout->format;
  matmul.quantised = is_quantised ? 1 : 0;
  matmul.weight = weight.data;
  matmul.n_rows = call.n_rows();
  matmul.n_in = op.n_in;
  matmul.n_out = op.n_out;
  matmul.scratch = call.worker.scratch.data();
  return call.run(matmul, call.share((op.n_out + kLanes - 1) / kLanes));
}

plumb_status run_rope(const OpCall& call) {
  const plumb_op_rope& op = call.op.as.rope;
  const uint64_t half = op.n_rotated / 2;
  OpArgs args(call);
  args.require(op.n_rotated % 2 == 0 && op.n_rotated >= 2 && op.n_rotated <= op.head_width,
               "n_rotated: expected an even number from 2 to head_width");
  args.require(op.pairing <= PLUMB_ROPE_INTERLEAVED, "pairing: unknown kind");
  const float* in =
      args.elements<const float>("in", op.in, {call.n_rows(), op.n_heads, op.head_width});
  float* out = args.elements<float>("out", op.out, {call.n_rows(), op.n_heads, op.head_width});
  const int32_t* positions = args.numbers("positions", op.positions, op.table_rows);
  const float* cos_table =
      args.elements<const float>("cos_table", op.cos_table, {op.table_rows, half});
  const float* sin_table =
      args.elements<const float>("sin_table", op.sin_table, {op.table_rows, half});
  args.require_apart(positions, out, call.n_rows() * op.n_heads * op.head_width,
                     "out: expected apart from positions");
  if (args.failed()) return args.status();
  RopeArgs rope{};
  rope.in = in;
  rope.out = out;
  rope.positions = positions;
  rope.cos_table = cos_table;
  rope.sin_table = sin_table;
  rope.n_heads = op.n_heads;
  rope.head_width = op.head_width;
  rope.n_rotated = op.n_rotated;
  rope.interleaved = op.pairing == PLUMB_ROPE_INTERLEAVED ? 1 : 0;
  return call.run(rope, call.share(call.n_rows() * op.n_heads));
}

plumb_status run_kv_append(const OpCall& call) {
  const plumb_op_kv_append& op = call.op.as.kv_append;
  OpArgs args(call);
  KvCache* cache = args.cache(op.kv);
  if (args.failed()) return args.status();
  const KvView& view = cache->view;
  const float* k =
      args.elements<const float>("k", op.k, {call.n_rows(), view.n_heads, view.head_width});
  const float* v =
      args.elements<const float>("v", op.v, {call.n_rows(), view.n_heads, view.head_width});
  const int32_t* positions = args.numbers("positions", op.positions, uint64_t{INT_MAX} + 1);
  if (args.failed()) return args.status();
  const uint64_t end = op.first_row + call.n_rows();
  if (op.first_row > cache->n_rows || end > cache->capacity_rows) {
    return failf(call.error, PLUMB_INVALID_ARGUMENT,
                 "first_row %u and %u rows; the cache holds %u of %u", op.first_row, call.op.n_rows,
                 cache->n_rows.load(), cache->capacity_rows);
  }
  KvWriteArgs write{};
  write.k = k;
  write.v = v;
  write.kv = view;
  write.first_row = op.first_row;
  const plumb_status status =
      call.run(write, call.share(call.n_rows() * view.n_heads), "k or v: a value in f16");
  if (status != PLUMB_OK) return status;
  if (call.part == 0) std::copy_n(positions, call.n_rows(), view.positions + op.first_row);
  cache->n_rows = static_cast<uint32_t>(end);
  return PLUMB_OK;
}

plumb_status run_attend(const OpCall& call) {
  const plumb_op_attend& op = call.op.as.attend;
  OpArgs args(call);
  const KvCache* cache = args.cache(op.kv);
  if (args.failed()) return args.status();
  const KvView& view = cache->view;
  args.require(op.n_heads != 0 && op.n_heads % view.n_heads == 0,
               "n_heads: expected a multiple of the cache's heads");
  args.require(op.n_rows_kv > 0 && op.n_rows_kv <= cache->n_rows,
               "n_rows_kv: expected 1 to the rows that the cache holds");
  args.require(op.mask <= PLUMB_MASK_BITMAP, "mask: unknown kind");
  args.require(op.mask != PLUMB_MASK_WINDOW || op.window > 0, "window: expected more than 0");
  args.require(op.softcap >= 0 && std::isfinite(op.softcap), "softcap: expected 0 or more");
  AttendArgs attend{};
  attend.q = args.elements<const float>("q", op.q, {call.n_rows(), op.n_heads, view.head_width});
  attend.out = args.elements<float>("out", op.out, {call.n_rows(), op.n_heads, view.head_width});
  attend.positions = args.numbers("positions", op.positions, uint64_t{INT_MAX} + 1);
  if (op.mask == PLUMB_MASK_BITMAP) {
    attend.bitmap = args.elements<const uint64_t>("bitmap", op.bitmap,
                                                  {call.n_rows(), (call.n_rows() + 63) / 64});
    args.require(op.first_row + call.n_rows() == op.n_rows_kv,
                 "first_row: expected the last T of the n_rows_kv rows");
  }
  if (args.failed()) return args.status();
  const uint64_t needed = attend_scratch_bytes(view.capacity);
  if (call.worker.scratch.bytes() < needed) return scratch_too_small(call, needed);

  attend.kv = view;
  attend.n_rows = call.n_rows();
  attend.n_heads = op.n_heads;
  attend.n_rows_kv = op.n_rows_kv;
  attend.first_row = op.first_row;
  attend.window = op.mask == PLUMB_MASK_WINDOW
                      ? static_cast<int32_t>(std::min<uint32_t>(op.window, INT_MAX))
                      : INT_MAX;
  attend.scale = op.scale;
  attend.softcap = op.softcap;
  attend.scratch = call.worker.scratch.data();
  // Tiles share the reading of K and V, but too few of them would leave parts without work.
  const uint64_t tiles = call.n_rows() * op.n_heads / kQueryTile;
  attend.tile = tiles >= uint64_t{4} * call.n_parts ? kQueryTile : 1;
  attend.step = call.n_parts;
  return call.run(attend, {call.part, attend.n_items()}, "a visible score");
}

plumb_status run_elementwise(const OpCall& call) {
  const plumb_op_elementwise& op = call.op.as.elementwise;
  const uint32_t kind = call.op.kind;
  constexpr Elementwise kFunctions[] = {Elementwise::kSilu, Elementwise::kGeluTanh,
                                        Elementwise::kGeluErf};
  OpArgs args(call);
  args.require(kind != PLUMB_OP_ACTIVATE || op.function <= PLUMB_ACT_GELU_ERF, "function: unknown");
  args.require(kind != PLUMB_OP_SOFTCAP || (op.parameter > 0 && std::isfinite(op.parameter)),
               "parameter: expected a cap of more than 0");
  const float* a = args.elements<const float>("a", op.a, {call.n_rows(), op.width});
  float* out = args.elements<float>("out", op.out, {call.n_rows(), op.width});
  const bool has_b = kind == PLUMB_OP_ADD || (kind == PLUMB_OP_ACTIVATE && op.b.buffer != 0);
  const float* b =
      has_b ? args.elements<const float>("b", op.b, {call.n_rows(), op.width}) : nullptr;
  if (args.failed()) return args.status();
  const Elementwise function = kind == PLUMB_OP_ACTIVATE ? kFunctions[op.function]
                               : kind == PLUMB_OP_ADD    ? Elementwise::kAdd
                               : kind == PLUMB_OP_SCALE  ? Elementwise::kScale
                                                         : Elementwise::kSoftcap;
  ElementwiseArgs elementwise{};
  elementwise.a = a;
  elementwise.b = b;
  elementwise.out = out;
  elementwise.n = call.n_rows() * op.width;
  elementwise.function = function;
  elementwise.parameter = op.parameter;
  return call.run(elementwise, call.share((elementwise.n + kLanes - 1) / kLanes));
}

plumb_status run_argmax(const OpCall& call) {
  const plumb_op_argmax& op = call.op.as.argmax;
  OpArgs args(call);
  const float* in = args.elements<const float>("in", op.in, {call.n_rows(), op.width});
  int32_t* out = args.elements<int32_t>("out", op.out, {call.n_rows()});
  args.require(op.width <= INT_MAX, "width: too large for an i32 index");
  if (args.failed()) return args.status();
  ArgmaxArgs argmax{};
  argmax.in = in;
  argmax.out = out;
  argmax.width = op.width;
  return call.run(argmax, call.share(call.n_rows()), "in: a value");
}

}  // namespace plumbline::cpu
