// table.cc: the plumb.kernels/1 table.
#include "table.h"

#include <algorithm>
#include <cstring>

#include "plumb/sdk/abi.h"
#include "plumb/sdk/blocks.h"
#include "state.h"

// A library of another class than most says so.
#ifndef PLUMB_CPU_NUMERICS
#define PLUMB_CPU_NUMERICS "canonical-1"
#endif

namespace plumbline::cpu {
namespace {

State& state_of(void* self) {
  return *static_cast<State*>(self);
}

plumb_status create(const plumb_host*, const plumb_kernels_config* config, void** self,
                    plumb_error* error) {
  return guarded(error, [&] {
    if (config == nullptr || self == nullptr ||
        !PLUMB_HAS(config, plumb_kernels_config, options_json)) {
      return fail(error, PLUMB_INVALID_ARGUMENT,
                  "create: config is missing or its struct_bytes too small");
    }
    const std::string_view options = to_view(config->options_json);
    if (!options.empty() && options != "{}") {
      return failf(error, PLUMB_INVALID_CONFIG, "options %.*s: this backend has none",
                   static_cast<int>(std::min<size_t>(options.size(), 128)), options.data());
    }
    const plumb_str variant =
        PLUMB_HAS(config, plumb_kernels_config, variant) ? config->variant : plumb_str{};
    auto state = std::make_unique<State>();
    state->n_workers_max = config->n_workers_max;
    plumb_status status = PLUMB_OK;
    state->engine = create_engine(variant, &status, error);
    if (state->engine == nullptr) return status;
    state->host_worker = state->engine->create_worker(error);
    if (state->host_worker == nullptr) return PLUMB_INTERNAL;
    *self = state.release();
    return PLUMB_OK;
  });
}

void destroy(void* self) {
  delete static_cast<State*>(self);
}

plumb_status supports_op(void*, const plumb_op_query* query, plumb_error* error) {
  return supports(query, error);
}

plumb_status add_buffer(State& state, std::optional<Memory> memory, uint64_t bytes,
                        plumb_handle* buffer, plumb_error* error) {
  if (!memory) {
    return failf(error, PLUMB_INTERNAL, "buffer: %s has no room for %llu bytes",
                 state.engine->name_of_memory(), static_cast<unsigned long long>(bytes));
  }
  *buffer = state.buffers.add(std::make_unique<Memory>(std::move(*memory)));
  return *buffer != 0 ? PLUMB_OK : fail(error, PLUMB_INTERNAL, "buffer: too many");
}

plumb_status alloc(void* self, uint64_t bytes, uint32_t flags, plumb_handle* buffer,
                   plumb_error* error) {
  return guarded(error, [&] {
    if (buffer == nullptr)
      return fail(error, PLUMB_INVALID_ARGUMENT, "alloc: nowhere to put the handle");
    if ((flags & ~PLUMB_ALLOC_SHARED) != 0) {
      return failf(error, PLUMB_UNSUPPORTED, "alloc: flags 0x%x; only SHARED is known", flags);
    }
    Engine& engine = *state_of(self).engine;
    auto memory =
        (flags & PLUMB_ALLOC_SHARED) != 0 ? engine.allocate_shared(bytes) : engine.allocate(bytes);
    return add_buffer(state_of(self), std::move(memory), bytes, buffer, error);
  });
}

void free_buffer(void* self, plumb_handle buffer) {
  state_of(self).buffers.remove(buffer);
}

plumb_status import_fd(void* self, int32_t fd, uint64_t offset, uint64_t bytes,
                       plumb_handle* buffer, plumb_error* error) {
  return guarded(error, [&] {
    if (buffer == nullptr)
      return fail(error, PLUMB_INVALID_ARGUMENT, "import_fd: nowhere to put the handle");
    auto memory = state_of(self).engine->import_fd(fd, offset, bytes);
    if (!memory) {
      return failf(error, PLUMB_INVALID_ARGUMENT,
                   "import_fd: descriptor %d has no %llu bytes at offset %llu that can be mapped "
                   "for writing",
                   fd, static_cast<unsigned long long>(bytes),
                   static_cast<unsigned long long>(offset));
    }
    return add_buffer(state_of(self), std::move(memory), bytes, buffer, error);
  });
}

plumb_status fail_range(plumb_error* error, plumb_slice slice, uint64_t bytes) {
  return failf(error, PLUMB_INVALID_ARGUMENT,
               "%llu bytes at offset %llu of buffer %llx leave it, or it is not live",
               static_cast<unsigned long long>(bytes),
               static_cast<unsigned long long>(slice.offset_bytes),
               static_cast<unsigned long long>(slice.buffer));
}

plumb_status read(void* self, plumb_slice from, void* to, uint64_t bytes, plumb_error* error) {
  const uint8_t* memory = resolve(state_of(self), from, bytes);
  if (memory == nullptr || (to == nullptr && bytes != 0)) return fail_range(error, from, bytes);
  if (bytes != 0) std::memcpy(to, memory, bytes);
  return PLUMB_OK;
}

plumb_status write(void* self, plumb_slice to, const void* from, uint64_t bytes,
                   plumb_error* error) {
  uint8_t* memory = resolve(state_of(self), to, bytes);
  if (memory == nullptr || (from == nullptr && bytes != 0)) return fail_range(error, to, bytes);
  if (bytes != 0) std::memcpy(memory, from, bytes);
  return PLUMB_OK;
}

void* host_pointer(void* self, plumb_slice slice) {
  return resolve(state_of(self), slice, 0);
}

plumb_status weight_bytes(void*, const plumb_tensor* tensor, uint32_t uses, uint64_t* bytes,
                          plumb_error* error) {
  if (bytes == nullptr)
    return fail(error, PLUMB_INVALID_ARGUMENT, "prepare_bytes: nowhere to put the answer");
  return prepare_bytes(tensor, uses, bytes, error);
}

plumb_status prepare_weight(void* self, const plumb_tensor* tensor, uint32_t uses,
                            plumb_slice destination, plumb_handle* weight, plumb_error* error) {
  return guarded(error, [&] {
    if (weight == nullptr)
      return fail(error, PLUMB_INVALID_ARGUMENT, "prepare: nowhere to put the handle");
    return prepare(state_of(self), tensor, uses, destination, weight, error);
  });
}

plumb_status begin_weight(void* self, const plumb_tensor* tensor, uint32_t uses,
                          plumb_slice destination, plumb_handle* weight, plumb_error* error) {
  return guarded(error, [&] {
    if (weight == nullptr)
      return fail(error, PLUMB_INVALID_ARGUMENT, "prepare_begin: nowhere to put the handle");
    return prepare_begin(state_of(self), tensor, uses, destination, weight, error);
  });
}

plumb_status prepare_weight_rows(void* self, plumb_handle weight, const plumb_tensor* tensor,
                                 uint64_t first_row, uint64_t n_rows, plumb_error* error) {
  return prepare_rows(state_of(self), weight, tensor, first_row, n_rows, error);
}

void release(void* self, plumb_handle weight) {
  state_of(self).weights.remove(weight);
}

uint64_t activation_bytes(void*, uint64_t n_rows, uint64_t width) {
  if (width % kBlock != 0 || width > UINT32_MAX) return 0;
  return checked_product(n_rows, ActivationRow{width}.bytes()).value_or(0);
}

plumb_status create_kv(void* self, const plumb_kv_shape* shape, plumb_handle* kv,
                       plumb_error* error) {
  return guarded(error, [&] { return kv_create(state_of(self), shape, kv, error); });
}

void destroy_kv(void* self, plumb_handle kv) {
  state_of(self).caches.remove(kv);
}

plumb_status truncate_kv(void* self, plumb_handle kv, uint32_t n_rows, plumb_error* error) {
  return kv_truncate(state_of(self), kv, n_rows, error);
}

plumb_status export_kv(void* self, plumb_handle kv, uint32_t first, uint32_t n, float* k, float* v,
                       int32_t* positions, plumb_error* error) {
  return kv_export(state_of(self), kv, first, n, k, v, positions, error);
}

plumb_status import_kv(void* self, plumb_handle kv, uint32_t first, uint32_t n, const float* k,
                       const float* v, const int32_t* positions, plumb_error* error) {
  return kv_import(state_of(self), kv, first, n, k, v, positions, error);
}

plumb_status worker_create(void* self, uint32_t index, plumb_handle* worker, plumb_error* error) {
  return guarded(error, [&] {
    State& state = state_of(self);
    if (worker == nullptr || index >= state.n_workers_max) {
      return failf(error, PLUMB_INVALID_ARGUMENT, "worker %u; the config allows %u", index,
                   state.n_workers_max);
    }
    return create_worker(state, worker, error);
  });
}

void worker_destroy(void* self, plumb_handle worker) {
  state_of(self).workers.remove(worker);
}

plumb_status plan_ops(void* self, const plumb_op* ops, uint32_t n_ops, plumb_error* error) {
  return guarded(error, [&] { return plan(state_of(self), ops, n_ops, error); });
}

plumb_status execute_ops(void* self, const plumb_op* ops, uint32_t n_ops, plumb_handle worker,
                         uint32_t part, uint32_t n_parts, plumb_error* error) {
  return execute(state_of(self), ops, n_ops, worker, part, n_parts, error);
}

plumb_status variant(uint32_t index, plumb_str* name, plumb_error* error) {
  const EngineVariant* found = engine_variant(index);
  if (name == nullptr)
    return fail(error, PLUMB_INVALID_ARGUMENT, "variant: nowhere to put the name");
  if (found == nullptr) return failf(error, PLUMB_NOT_FOUND, "variant %u: there is none", index);
  *name = to_abi(found->name);
  const char* missing = found->missing();
  return missing == nullptr ? PLUMB_OK
                            : failf(error, PLUMB_UNSUPPORTED, "this machine has no %s", missing);
}

}  // namespace

const plumb_kernels kKernels = {
    .struct_bytes = sizeof(plumb_kernels),
    .reserved = 0,
    .numerics = to_abi(PLUMB_CPU_NUMERICS),
    .create = create,
    .destroy = destroy,
    .supports = supports_op,
    .alloc = alloc,
    .free = free_buffer,
    .import_fd = import_fd,
    .read = read,
    .write = write,
    .host_pointer = host_pointer,
    .prepare_bytes = weight_bytes,
    .prepare = prepare_weight,
    .release = release,
    .activation_bytes = activation_bytes,
    .kv_create = create_kv,
    .kv_destroy = destroy_kv,
    .kv_truncate = truncate_kv,
    .kv_export = export_kv,
    .kv_import = import_kv,
    .worker_create = worker_create,
    .worker_destroy = worker_destroy,
    .plan = plan_ops,
    .execute = execute_ops,
    .submit = nullptr,
    .fence = nullptr,
    .variant = variant,
    .prepare_begin = begin_weight,
    .prepare_rows = prepare_weight_rows,
    .numerics_of = nullptr,
};

}  // namespace plumbline::cpu
