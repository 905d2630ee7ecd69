// plumb.reference: the oracle. Slow is allowed, wrong is not. See naive_ops.h.
#include <cstring>
#include <string_view>

#include "naive_ops.h"
#include "plumb/sdk/abi.h"
#include "plumb/sdk/blocks.h"
#include "plumb/sdk/entry.h"
#include "reference_execute.h"

namespace plumbline::reference {
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
    if (PLUMB_HAS(config, plumb_kernels_config, variant) && config->variant.bytes != 0) {
      return failf(error, PLUMB_INVALID_CONFIG, "variant %.*s: plumb.reference has none",
                   static_cast<int>(std::min<uint64_t>(config->variant.bytes, 64)),
                   config->variant.data);
    }
    if (!options.empty() && options != "{}") {
      return failf(error, PLUMB_INVALID_CONFIG, "options %.*s: plumb.reference has none",
                   static_cast<int>(std::min<size_t>(options.size(), 128)), options.data());
    }
    auto state = std::make_unique<State>();
    state->n_workers_max = config->n_workers_max;
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

plumb_status alloc(void* self, uint64_t bytes, uint32_t flags, plumb_handle* buffer,
                   plumb_error* error) {
  return guarded(error, [&] {
    if (buffer == nullptr)
      return fail(error, PLUMB_INVALID_ARGUMENT, "alloc: nowhere to put the handle");
    if (flags != 0) {
      return failf(error, PLUMB_UNSUPPORTED, "alloc: flags 0x%x; this backend's memory is private",
                   flags);
    }
    *buffer = state_of(self).buffers.add(std::make_unique<Buffer>(bytes));
    return *buffer != 0 ? PLUMB_OK : fail(error, PLUMB_INTERNAL, "alloc: too many buffers");
  });
}

void free_buffer(void* self, plumb_handle buffer) {
  state_of(self).buffers.remove(buffer);
}

plumb_status fail_range(plumb_error* error, plumb_slice slice, uint64_t bytes) {
  return failf(error, PLUMB_INVALID_ARGUMENT,
               "%llu bytes at offset %llu of buffer %llx leave it, or it is not live",
               static_cast<unsigned long long>(bytes),
               static_cast<unsigned long long>(slice.offset_bytes),
               static_cast<unsigned long long>(slice.buffer));
}

plumb_status read(void* self, plumb_slice from, void* to, uint64_t bytes, plumb_error* error) {
  const std::byte* memory = resolve(state_of(self), from, bytes);
  if (memory == nullptr) return fail_range(error, from, bytes);
  if (bytes != 0) std::memcpy(to, memory, bytes);
  return PLUMB_OK;
}

plumb_status write(void* self, plumb_slice to, const void* from, uint64_t bytes,
                   plumb_error* error) {
  std::byte* memory = resolve(state_of(self), to, bytes);
  if (memory == nullptr) return fail_range(error, to, bytes);
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

void release(void* self, plumb_handle weight) {
  state_of(self).weights.remove(weight);
}

uint64_t activation_bytes(void*, uint64_t n_rows, uint64_t width) {
  if (width % PLUMB_QK != 0) return 0;
  const auto n_blocks = checked_product(n_rows, width / PLUMB_QK);
  return n_blocks ? checked_product(*n_blocks, sizeof(Q8Block)).value_or(0) : 0;
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

plumb_status create_worker(void* self, uint32_t index, plumb_handle* worker, plumb_error* error) {
  return guarded(error, [&] {
    State& state = state_of(self);
    if (worker == nullptr || index >= state.n_workers_max) {
      return failf(error, PLUMB_INVALID_ARGUMENT, "worker %u; the config allows %u", index,
                   state.n_workers_max);
    }
    auto made = std::make_unique<Worker>();
    made->floats.resize(state.planned_floats);
    made->doubles.resize(state.planned_doubles);
    *worker = state.workers.add(std::move(made));
    return *worker != 0 ? PLUMB_OK : fail(error, PLUMB_INTERNAL, "worker: too many");
  });
}

void destroy_worker(void* self, plumb_handle worker) {
  state_of(self).workers.remove(worker);
}

plumb_status plan_ops(void* self, const plumb_op* ops, uint32_t n_ops, plumb_error* error) {
  return guarded(error, [&] { return plan(state_of(self), ops, n_ops, error); });
}

plumb_status execute_ops(void* self, const plumb_op* ops, uint32_t n_ops, plumb_handle worker,
                         uint32_t part, uint32_t n_parts, plumb_error* error) {
  return execute(state_of(self), ops, n_ops, worker, part, n_parts, error);
}

constexpr plumb_kernels kKernels = {
    .struct_bytes = sizeof(plumb_kernels),
    .reserved = 0,
    .numerics = to_abi("reference-f64/1"),
    .create = create,
    .destroy = destroy,
    .supports = supports_op,
    .alloc = alloc,
    .free = free_buffer,
    .import_fd = nullptr,
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
    .worker_create = create_worker,
    .worker_destroy = destroy_worker,
    .plan = plan_ops,
    .execute = execute_ops,
    .submit = nullptr,
    .fence = nullptr,
    .variant = nullptr,
    .prepare_begin = nullptr,
    .prepare_rows = nullptr,
    .numerics_of = nullptr,
};

// Never picked while anything else can run.
int32_t rank() {
  return -1000;
}

const void* extension(plumb_str id) {
  return to_view(id) == PLUMB_EXT_KERNELS ? &kKernels : nullptr;
}

}  // namespace
}  // namespace plumbline::reference

PLUMB_DEFINE_PLUGIN(plumbline::runs_anywhere, plumbline::reference::rank,
                    plumbline::reference::extension)
