// execute.cc: lists of ops: which the fault can break, what they need, and running them.
#include "call.h"

namespace plumbline::fault {
namespace {

/// A copy of the record that the fault may change; a longer one's tail is unknown here.
plumb_op copy_of(const plumb_op& op) {
  plumb_op copy = op;
  copy.struct_bytes = sizeof copy;
  return copy;
}

/// The record as the fault has it run.
plumb_op changed(const Fault& fault, const OpFacts& facts) {
  plumb_op copy = copy_of(facts.op);
  if (fault.change_record != nullptr) fault.change_record(facts, copy);
  return copy;
}

/// What an op lacks for the fault, with what would do; else null.
const char* misfit_of(const Fault& fault, const OpFacts& facts) {
  return fault.misfit == nullptr ? nullptr : fault.misfit(facts);
}

bool breaks(const State& state, const plumb_op& op) {
  return PLUMB_HAS(&op, plumb_op, as) && state.fault->ops.has(op.kind);
}

bool runs_whole(const Fault& fault) {
  return fault.run != nullptr || fault.change_output != nullptr;
}

plumb_status failed(const plumb_op& op, const Error& reason, plumb_error* error) {
  if (error != nullptr && PLUMB_HAS(error, plumb_error, op_id)) error->op_id = op.id;
  return fail(error, reason);
}

/// Calls visit(op) for each record until one fails; they lie ops[0].struct_bytes apart.
template <typename Visit>
plumb_status for_each_record(const plumb_op* ops, uint32_t n_ops, Visit&& visit) {
  const auto* at = reinterpret_cast<const std::byte*>(ops);
  for (uint32_t i = 0; i < n_ops; ++i, at += ops->struct_bytes) {
    const plumb_status status = visit(*reinterpret_cast<const plumb_op*>(at));
    if (status != PLUMB_OK) return status;
  }
  return PLUMB_OK;
}

/// Values of 4 bytes that running the whole op takes, here or in the inner backend: all that it
/// reads and writes, at most twice, with room for the pieces' ends.
std::optional<uint64_t> scratch_values(const OpFacts& facts) {
  const plumb_op& op = facts.op;
  uint64_t in_width = output_width(facts);
  uint64_t more = 1024;
  constexpr uint64_t kWidest = uint64_t{1} << 62;
  if (in_width > kWidest) return std::nullopt;
  if (op.kind == PLUMB_OP_MATMUL) in_width = op.as.matmul.n_in;
  if (op.kind == PLUMB_OP_QUANTIZE) in_width = op.as.quantize.width;
  if (op.kind == PLUMB_OP_MATMUL) more += op.as.matmul.n_in;
  if (op.kind == PLUMB_OP_ATTEND) more += op.as.attend.n_rows_kv;
  if (op.kind == PLUMB_OP_ROPE) more += 4 * uint64_t{op.as.rope.n_rotated};
  if (op.kind == PLUMB_OP_KV_APPEND) {
    in_width = uint64_t{facts.cache->n_heads} * facts.cache->head_width;
    more += 2 * in_width;
  }
  const auto rows = checked_product(op.n_rows, in_width + output_width(facts) + 4);
  const auto twice = rows ? checked_product(*rows, 2) : std::nullopt;
  if (!twice || *twice > UINT64_MAX / 8 - more) return std::nullopt;
  return *twice + more;
}

bool is_there(const State& state, plumb_slice slice, uint64_t n_rows, uint64_t width) {
  const auto n = checked_product(n_rows, width);
  float last = 0;
  return n && *n != 0 && *n < UINT64_MAX / 8 && slice.offset_bytes < UINT64_MAX / 2 &&
         state.inner->read(state.self, behind(slice, *n - 1), &last, sizeof last, nullptr) ==
             PLUMB_OK;
}

/// The memory that the op's sizes speak of is there, so that no record makes this side allocate for
/// what is not.
bool has_memory(const State& state, const OpFacts& facts) {
  const plumb_op& op = facts.op;
  switch (op.kind) {
    case PLUMB_OP_QUANTIZE:
      return is_there(state, op.as.quantize.in, op.n_rows, op.as.quantize.width);
    case PLUMB_OP_KV_APPEND:
      return is_there(state, op.as.kv_append.k, op.n_rows,
                      uint64_t{facts.cache->n_heads} * facts.cache->head_width);
    case PLUMB_OP_MATMUL:
      if (facts.weight == nullptr || facts.weight->n_columns != op.as.matmul.n_in) return false;
      break;
    case PLUMB_OP_ROPE:
      if (op.as.rope.n_rotated > op.as.rope.head_width) return false;
      break;
    case PLUMB_OP_ATTEND:
      if (facts.cache == nullptr || op.as.attend.n_rows_kv > facts.cache->capacity_rows)
        return false;
      break;
    default:
      break;
  }
  return is_there(state, output_of(op), op.n_rows, output_width(facts));
}

plumb_status grow(const State& state, Worker& worker, uint64_t bytes, plumb_error* error) {
  if (worker.bytes >= bytes) return PLUMB_OK;
  plumb_handle buffer = 0;
  const plumb_status status = state.inner->alloc(state.self, bytes, 0, &buffer, error);
  if (status != PLUMB_OK) return status;
  if (worker.there.buffer != 0) state.inner->free(state.self, worker.there.buffer);
  worker.there = {buffer, 0};
  worker.bytes = 0;
  worker.here.resize(bytes);
  worker.bytes = bytes;
  return PLUMB_OK;
}

/// Whoever places ops asks of each before any is planned. A cache's rows, of which nobody asks, are
/// planned in front of the attend that reads them.
plumb_status check_target(State& state, const plumb_op* ops, uint32_t n_ops, plumb_error* error) {
  for_each_record(ops, n_ops, [&](const plumb_op& op) {
    state.has_target |= breaks(state, op);
    return PLUMB_OK;
  });
  const Fault& fault = *state.fault;
  if (n_ops == 0 || !state.was_asked || state.has_target || fault.ops.is_empty()) return PLUMB_OK;
  return failed(*ops,
                {PLUMB_UNSUPPORTED, needs(fault, "an op of " + kind_names(fault.ops) +
                                                     "; none of those placed on it is one")},
                error);
}

/// An op that the fault breaks: does it fit, and what does it take?
plumb_status plan_broken(State& state, const OpFacts& facts, plumb_error* error) {
  const plumb_op& op = facts.op;
  if (const char* lacks = misfit_of(*state.fault, facts))
    return failed(op, {PLUMB_UNSUPPORTED, needs(*state.fault, lacks)}, error);
  if (!runs_whole(*state.fault)) return PLUMB_OK;
  const auto values = scratch_values(facts);
  if (!values || !has_memory(state, facts)) {
    return failed(op, {PLUMB_INVALID_ARGUMENT, "its sizes do not fit its slices and handles"},
                  error);
  }
  state.planned_bytes = std::max(state.planned_bytes, *values * 4);
  return PLUMB_OK;
}

Result<void> run_output(Call& call, const Fault& fault) {
  PLUMB_TRY(call.run(call.op()));
  const uint64_t width = output_width(call.facts());
  if (width == 0) return {};
  const plumb_slice out = output_of(call.op());
  PLUMB_ASSIGN(const std::span<float> values, call.read<float>(out, call.op().n_rows * width));
  Output output{values, call.op().n_rows, width, call.facts().amount};
  fault.change_output(output);
  return call.write(out, values);
}

}  // namespace

OpFacts State::facts(const plumb_op& op) const {
  OpFacts facts{op, amount, nullptr, nullptr, nullptr};
  switch (op.kind) {
    case PLUMB_OP_EMBED:
      facts.weight = weights.find(op.as.embed.weight);
      break;
    case PLUMB_OP_RMS_NORM:
    case PLUMB_OP_LAYER_NORM:
      facts.weight = weights.find(op.as.norm.weight);
      facts.bias = weights.find(op.as.norm.bias);
      break;
    case PLUMB_OP_MATMUL:
      facts.weight = weights.find(op.as.matmul.weight);
      facts.bias = weights.find(op.as.matmul.bias);
      break;
    case PLUMB_OP_KV_APPEND:
      facts.cache = caches.find(op.as.kv_append.kv);
      break;
    case PLUMB_OP_ATTEND:
      facts.cache = caches.find(op.as.attend.kv);
      break;
    default:
      break;
  }
  return facts;
}

plumb_slice output_of(const plumb_op& op) {
  switch (op.kind) {
    case PLUMB_OP_EMBED:
      return op.as.embed.out;
    case PLUMB_OP_RMS_NORM:
    case PLUMB_OP_LAYER_NORM:
      return op.as.norm.out;
    case PLUMB_OP_MATMUL:
      return op.as.matmul.out;
    case PLUMB_OP_ROPE:
      return op.as.rope.out;
    case PLUMB_OP_ATTEND:
      return op.as.attend.out;
    case PLUMB_OP_ACTIVATE:
    case PLUMB_OP_ADD:
    case PLUMB_OP_SCALE:
    case PLUMB_OP_SOFTCAP:
      return op.as.elementwise.out;
    default:
      return {};
  }
}

uint64_t output_width(const OpFacts& facts) {
  const plumb_op& op = facts.op;
  switch (op.kind) {
    case PLUMB_OP_EMBED:
      return facts.weight == nullptr ? 0 : facts.weight->n_columns;
    case PLUMB_OP_RMS_NORM:
    case PLUMB_OP_LAYER_NORM:
      return uint64_t{op.as.norm.n_groups} * op.as.norm.width;
    case PLUMB_OP_MATMUL:
      return op.as.matmul.n_out;
    case PLUMB_OP_ROPE:
      return uint64_t{op.as.rope.n_heads} * op.as.rope.head_width;
    case PLUMB_OP_ATTEND:
      return facts.cache == nullptr ? 0 : uint64_t{op.as.attend.n_heads} * facts.cache->head_width;
    case PLUMB_OP_ACTIVATE:
    case PLUMB_OP_ADD:
    case PLUMB_OP_SCALE:
    case PLUMB_OP_SOFTCAP:
      return op.as.elementwise.width;
    default:
      return 0;
  }
}

plumb_status supports(State& state, const plumb_op_query* query, plumb_error* error) {
  const Fault& fault = *state.fault;
  const bool is_asked = query != nullptr && PLUMB_HAS(query, plumb_op_query, variant);
  if (is_asked) {
    const std::lock_guard lock(state.plan_mutex);
    state.was_asked = true;
    state.has_target |= fault.ops.has(query->kind);
  }
  if (is_asked && fault.ops.has(query->kind)) {
    const bool is_product = query->kind == PLUMB_OP_MATMUL;
    const bool has_weight = is_product || query->kind == PLUMB_OP_EMBED;
    const std::string misfit = has_weight ? misfit_of_format(fault, query->weight_format) : "";
    if (!misfit.empty()) return fail(error, PLUMB_UNSUPPORTED, misfit);
    if (is_product && fault.needs_q8 && query->in_format != PLUMB_ACT_Q8) {
      return fail(error, PLUMB_UNSUPPORTED, needs(fault, "quantised activations"));
    }
    if (const char* lacks = fault.misfit_query == nullptr ? nullptr : fault.misfit_query(*query))
      return fail(error, PLUMB_UNSUPPORTED, needs(fault, lacks));
  }
  return state.inner->supports(state.self, query, error);
}

plumb_status create_worker(State& state, uint32_t index, plumb_handle* worker, plumb_error* error) {
  if (worker == nullptr)
    return fail(error, PLUMB_INVALID_ARGUMENT, "worker: nowhere to put the handle");
  const std::lock_guard lock(state.plan_mutex);
  auto made = std::make_unique<Worker>();
  plumb_status status = state.inner->worker_create(state.self, index, &made->inner, error);
  if (status != PLUMB_OK) return status;
  status = grow(state, *made, state.planned_bytes, error);
  const plumb_handle inner = made->inner;
  if (status == PLUMB_OK) {
    *worker = state.workers.add(std::move(made));
    if (*worker == 0) status = fail(error, PLUMB_INTERNAL, "worker: too many");
  }
  if (status != PLUMB_OK) state.inner->worker_destroy(state.self, inner);
  return status;
}

plumb_status plan(State& state, const plumb_op* ops, uint32_t n_ops, plumb_error* error) {
  if (ops == nullptr && n_ops != 0) return fail(error, PLUMB_INVALID_ARGUMENT, "ops: missing");
  const std::lock_guard lock(state.plan_mutex);
  plumb_status status = check_target(state, ops, n_ops, error);
  if (status != PLUMB_OK) return status;
  status = for_each_record(ops, n_ops, [&](const plumb_op& op) {
    if (!breaks(state, op)) return state.inner->plan(state.self, &op, 1, error);
    const OpFacts facts = state.facts(op);
    const plumb_status fits = plan_broken(state, facts, error);
    if (fits != PLUMB_OK) return fits;
    const plumb_op other = changed(*state.fault, facts);
    return state.inner->plan(state.self, &other, 1, error);
  });
  state.workers.for_each([&](Worker& worker) {
    if (status == PLUMB_OK) status = grow(state, worker, state.planned_bytes, error);
  });
  return status;
}

plumb_status execute(State& state, const plumb_op* ops, uint32_t n_ops, plumb_handle worker_handle,
                     uint32_t part, uint32_t n_parts, plumb_error* error) {
  if (ops == nullptr && n_ops != 0) return fail(error, PLUMB_INVALID_ARGUMENT, "ops: missing");
  Worker* worker = state.workers.find(worker_handle);
  if (worker == nullptr) return fail(error, PLUMB_INVALID_ARGUMENT, "worker: not a live handle");
  if (part >= n_parts) return failf(error, PLUMB_INVALID_ARGUMENT, "part %u of %u", part, n_parts);
  const Fault& fault = *state.fault;
  return for_each_record(ops, n_ops, [&](const plumb_op& op) {
    const auto run_part = [&](const plumb_op& one) {
      return state.inner->execute(state.self, &one, 1, worker->inner, part, n_parts, error);
    };
    if (!breaks(state, op)) return run_part(op);
    const plumb_op copy = copy_of(op);
    const OpFacts facts = state.facts(copy);
    if (const char* lacks = misfit_of(fault, facts))
      return failed(op, {PLUMB_UNSUPPORTED, needs(fault, lacks)}, error);
    if (!runs_whole(fault)) return run_part(changed(fault, facts));
    // The first part does it all: what is read may not change under another part's hands.
    if (part != 0) return PLUMB_OK;
    // No product of its sizes overflows then.
    const auto values = scratch_values(facts);
    if (!values || *values > worker->bytes / 4)
      return failed(op, {PLUMB_INVALID_ARGUMENT, "not planned, or not as large"}, error);
    Call call(state, *worker, facts);
    const Result<void> done = fault.run != nullptr ? fault.run(call) : run_output(call, fault);
    return done ? PLUMB_OK : failed(op, done.error(), error);
  });
}

}  // namespace plumbline::fault
