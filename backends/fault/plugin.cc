// plumb.fault: a liar on purpose. See fault.h.
#include <cmath>
#include <string_view>

#include "call.h"
#include "plumb/sdk/entry.h"

namespace plumbline::fault {
namespace {

State& state_of(void* self) {
  return *static_cast<State*>(self);
}

plumb_status find_inner(const plumb_host* host, const Options& options, const plumb_kernels** inner,
                        const plumb_host** inner_host, plumb_error* error) {
  if (host == nullptr || !PLUMB_HAS(host, plumb_host, find_extension) ||
      host->find_extension == nullptr) {
    return fail(error, PLUMB_UNSUPPORTED, "this host hands out no other plugin's table to wrap");
  }
  const void* table = nullptr;
  const plumb_status status = host->find_extension(
      host->context, to_abi(PLUMB_EXT_KERNELS), to_abi(options.inner), &table, inner_host, error);
  *inner = static_cast<const plumb_kernels*>(table);
  return status;
}

plumb_status create(const plumb_host* host, const plumb_kernels_config* config, void** self,
                    plumb_error* error) {
  return guarded(error, [&] {
    if (config == nullptr || self == nullptr ||
        !PLUMB_HAS(config, plumb_kernels_config, options_json)) {
      return fail(error, PLUMB_INVALID_ARGUMENT,
                  "create: config is missing or its struct_bytes too small");
    }
    if (PLUMB_HAS(config, plumb_kernels_config, variant) && config->variant.bytes != 0) {
      return fail(error, PLUMB_INVALID_CONFIG,
                  "plumb.fault has no variants; its option variant names one of the inner backend");
    }
    auto options = parse_options(to_view(config->options_json));
    if (!options) return fail(error, options.error());
    auto state = std::make_unique<State>();
    state->fault = options->fault;
    state->amount = options->amount;
    const plumb_host* inner_host = nullptr;
    plumb_status status = find_inner(host, *options, &state->inner, &inner_host, error);
    if (status != PLUMB_OK) return status;
    auto inner_config = make_abi<plumb_kernels_config>();
    inner_config.n_workers_max = config->n_workers_max;
    inner_config.options_json = to_abi("{}");
    if (options->variant != "auto") inner_config.variant = to_abi(options->variant);
    status = state->inner->create(inner_host, &inner_config, &state->self, error);
    if (status == PLUMB_OK) *self = state.release();
    return status;
  });
}

void destroy(void* self) {
  const std::unique_ptr<State> state(&state_of(self));
  state->inner->destroy(state->self);
}

/// Calls the same function of the inner backend.
template <auto Member>
struct Forward;
template <typename R, typename... Args, R (*plumb_kernels::*Member)(void*, Args...)>
struct Forward<Member> {
  static R PLUMB_CALL call(void* self, Args... args) {
    return (state_of(self).inner->*Member)(state_of(self).self, args...);
  }
};

void* host_pointer(void* self, plumb_slice slice) {
  const State& state = state_of(self);
  return state.inner->host_pointer == nullptr ? nullptr
                                              : state.inner->host_pointer(state.self, slice);
}

plumb_status supports_op(void* self, const plumb_op_query* query, plumb_error* error) {
  return guarded(error, [&] { return supports(state_of(self), query, error); });
}

plumb_status weight_bytes(void* self, const plumb_tensor* tensor, uint32_t uses, uint64_t* bytes,
                          plumb_error* error) {
  return guarded(error, [&] { return prepare_bytes(state_of(self), tensor, uses, bytes, error); });
}

plumb_status prepare_weight(void* self, const plumb_tensor* tensor, uint32_t uses,
                            plumb_slice destination, plumb_handle* weight, plumb_error* error) {
  return guarded(error,
                 [&] { return prepare(state_of(self), tensor, uses, destination, weight, error); });
}

void release(void* self, plumb_handle weight) {
  State& state = state_of(self);
  state.inner->release(state.self, weight);
  state.weights.remove(weight);
}

uint64_t activation_bytes(void* self, uint64_t n_rows, uint64_t width) {
  const State& state = state_of(self);
  if (state.fault->needs_q8) return own_activation_bytes(n_rows, width);
  return state.inner->activation_bytes(state.self, n_rows, width);
}

plumb_status kv_create(void* self, const plumb_kv_shape* shape, plumb_handle* kv,
                       plumb_error* error) {
  return guarded(error, [&] {
    State& state = state_of(self);
    const plumb_status status = state.inner->kv_create(state.self, shape, kv, error);
    if (status == PLUMB_OK)
      state.caches.add(*kv, {shape->n_heads_kv, shape->head_width, shape->capacity_rows});
    return status;
  });
}

void kv_destroy(void* self, plumb_handle kv) {
  State& state = state_of(self);
  state.inner->kv_destroy(state.self, kv);
  state.caches.remove(kv);
}

plumb_status worker_create(void* self, uint32_t index, plumb_handle* worker, plumb_error* error) {
  return guarded(error, [&] { return create_worker(state_of(self), index, worker, error); });
}

void worker_destroy(void* self, plumb_handle worker) {
  State& state = state_of(self);
  const Worker* found = state.workers.find(worker);
  if (found == nullptr) return;
  state.inner->worker_destroy(state.self, found->inner);
  if (found->there.buffer != 0) state.inner->free(state.self, found->there.buffer);
  state.workers.remove(worker);
}

plumb_status plan_ops(void* self, const plumb_op* ops, uint32_t n_ops, plumb_error* error) {
  return guarded(error, [&] { return plan(state_of(self), ops, n_ops, error); });
}

plumb_status execute_ops(void* self, const plumb_op* ops, uint32_t n_ops, plumb_handle worker,
                         uint32_t part, uint32_t n_parts, plumb_error* error) {
  return guarded(error,
                 [&] { return execute(state_of(self), ops, n_ops, worker, part, n_parts, error); });
}

plumb_str numerics_of(void* self) {
  const State& state = state_of(self);
  const bool is_told =
      PLUMB_HAS(state.inner, plumb_kernels, numerics_of) && state.inner->numerics_of != nullptr;
  return is_told ? state.inner->numerics_of(state.self) : state.inner->numerics;
}

using K = plumb_kernels;

constexpr plumb_kernels kKernels = {
    .struct_bytes = sizeof(plumb_kernels),
    .reserved = 0,
    .numerics = to_abi("canonical-1"),  // of most that it wraps; numerics_of knows
    .create = create,
    .destroy = destroy,
    .supports = supports_op,
    .alloc = Forward<&K::alloc>::call,
    .free = Forward<&K::free>::call,
    .import_fd = nullptr,
    .read = Forward<&K::read>::call,
    .write = Forward<&K::write>::call,
    .host_pointer = host_pointer,
    .prepare_bytes = weight_bytes,
    .prepare = prepare_weight,
    .release = release,
    .activation_bytes = activation_bytes,
    .kv_create = kv_create,
    .kv_destroy = kv_destroy,
    .kv_truncate = Forward<&K::kv_truncate>::call,
    .kv_export = Forward<&K::kv_export>::call,
    .kv_import = Forward<&K::kv_import>::call,
    .worker_create = worker_create,
    .worker_destroy = worker_destroy,
    .plan = plan_ops,
    .execute = execute_ops,
    .submit = nullptr,
    .fence = nullptr,
    .variant = nullptr,
    .prepare_begin = nullptr,
    .prepare_rows = nullptr,
    .numerics_of = numerics_of,
};

int32_t rank() {
  return PLUMB_RANK_NAMED_ONLY;
}

const void* extension(plumb_str id) {
  return to_view(id) == PLUMB_EXT_KERNELS ? &kKernels : nullptr;
}

}  // namespace
}  // namespace plumbline::fault

PLUMB_DEFINE_PLUGIN(plumbline::runs_anywhere, plumbline::fault::rank, plumbline::fault::extension)
