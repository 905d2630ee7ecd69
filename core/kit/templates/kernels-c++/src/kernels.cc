// The table of plumb.kernels/1: an instance's life, buffers and workers.
#include "kernels.h"

#include <plumb/sdk/abi.h>

#include <cstring>

#include "extension.h"

namespace kernels {

using plumbline::fail;
using plumbline::guarded;

std::byte* resolve(const State& state, plumb_slice slice, uint64_t n_bytes) {
  Buffer* buffer = state.buffers.find(slice.buffer);
  if (buffer == nullptr || slice.offset_bytes > buffer->n_bytes ||
      n_bytes > buffer->n_bytes - slice.offset_bytes)
    return nullptr;
  return buffer->memory.data()->bytes + slice.offset_bytes;
}

namespace {

State& state_of(void* self) {
  return *static_cast<State*>(self);
}

plumb_status create(const plumb_host*, const plumb_kernels_config* config, void** self,
                    plumb_error* error) {
  return guarded(error, [&] {
    if (self == nullptr || config == nullptr ||
        !PLUMB_HAS(config, plumb_kernels_config, options_json))
      return fail(error, PLUMB_INVALID_ARGUMENT, "create: the config is missing or too short");
    const std::string_view options = plumbline::to_view(config->options_json);
    if (!options.empty() && options != "{}")
      return fail(error, PLUMB_INVALID_CONFIG, "options: this backend has none");
    if (PLUMB_HAS(config, plumb_kernels_config, variant) && config->variant.bytes != 0)
      return fail(error, PLUMB_INVALID_CONFIG, "variant: this backend has none");
    auto state = std::make_unique<State>();
    state->n_workers_max = config->n_workers_max;
    *self = state.release();
    return PLUMB_OK;
  });
}

void destroy(void* self) {
  delete static_cast<State*>(self);
}

plumb_status alloc(void* self, uint64_t bytes, uint32_t flags, plumb_handle* buffer,
                   plumb_error* error) {
  return guarded(error, [&] {
    if (buffer == nullptr)
      return fail(error, PLUMB_INVALID_ARGUMENT, "alloc: no place for the handle");
    if (flags != 0) return fail(error, PLUMB_UNSUPPORTED, "alloc: this memory is private");
    auto made = std::make_unique<Buffer>();
    made->memory.resize(bytes / sizeof(Buffer::Aligned) + 1);
    made->n_bytes = bytes;
    *buffer = state_of(self).buffers.add(std::move(made));
    return *buffer != 0 ? PLUMB_OK : fail(error, PLUMB_INTERNAL, "alloc: too many buffers");
  });
}

plumb_status worker_create(void* self, uint32_t index, plumb_handle* worker, plumb_error* error) {
  return guarded(error, [&] {
    if (worker == nullptr || index >= state_of(self).n_workers_max)
      return fail(error, PLUMB_INVALID_ARGUMENT, "worker_create: more than the config allows");
    *worker = state_of(self).workers.add(std::make_unique<Worker>());
    return *worker != 0 ? PLUMB_OK : fail(error, PLUMB_INTERNAL, "worker_create: too many");
  });
}

plumb_status fail_range(plumb_error* error, const char* function) {
  return plumbline::failf(error, PLUMB_INVALID_ARGUMENT, "%s: outside a live buffer", function);
}

plumb_status no_kv(plumb_error* error) {
  return fail(error, PLUMB_UNSUPPORTED, "this backend has no KV caches");
}

constexpr plumb_kernels kTable = {
    .struct_bytes = sizeof(plumb_kernels),
    .reserved = 0,
    .numerics = plumbline::to_abi("canonical-1"),
    .create = create,
    .destroy = destroy,
    .supports = [](void*, const plumb_op_query* query,
                   plumb_error* error) { return supports(query, error); },
    .alloc = alloc,
    .free = [](void* self, plumb_handle buffer) { state_of(self).buffers.remove(buffer); },
    .import_fd = nullptr,
    .read =
        [](void* self, plumb_slice from, void* to, uint64_t bytes, plumb_error* error) {
          const std::byte* memory = resolve(state_of(self), from, bytes);
          if (memory == nullptr) return fail_range(error, "read");
          if (bytes != 0) std::memcpy(to, memory, bytes);
          return PLUMB_OK;
        },
    .write =
        [](void* self, plumb_slice to, const void* from, uint64_t bytes, plumb_error* error) {
          std::byte* memory = resolve(state_of(self), to, bytes);
          if (memory == nullptr) return fail_range(error, "write");
          if (bytes != 0) std::memcpy(memory, from, bytes);
          return PLUMB_OK;
        },
    .host_pointer = [](void* self, plumb_slice slice) -> void* {
      return resolve(state_of(self), slice, 0);
    },
    .prepare_bytes = [](void*, const plumb_tensor* tensor, uint32_t uses, uint64_t* bytes,
                        plumb_error* error) { return prepare_bytes(tensor, uses, bytes, error); },
    .prepare =
        [](void* self, const plumb_tensor* tensor, uint32_t uses, plumb_slice destination,
           plumb_handle* weight, plumb_error* error) {
          return guarded(error, [&] {
            return prepare(state_of(self), tensor, uses, destination, weight, error);
          });
        },
    .release = [](void* self, plumb_handle weight) { state_of(self).weights.remove(weight); },
    .activation_bytes = [](void*, uint64_t n_rows, uint64_t width) -> uint64_t {
      const uint64_t row_bytes = width / PLUMB_QK * sizeof(Block);
      if (width % PLUMB_QK != 0 || row_bytes == 0 || n_rows > UINT64_MAX / row_bytes) return 0;
      return n_rows * row_bytes;
    },
    // KV caches are another backend's.
    .kv_create = [](void*, const plumb_kv_shape*, plumb_handle*,
                    plumb_error* error) { return no_kv(error); },
    .kv_destroy = [](void*, plumb_handle) {},
    .kv_truncate = [](void*, plumb_handle, uint32_t, plumb_error* error) { return no_kv(error); },
    .kv_export = [](void*, plumb_handle, uint32_t, uint32_t, float*, float*, int32_t*,
                    plumb_error* error) { return no_kv(error); },
    .kv_import = [](void*, plumb_handle, uint32_t, uint32_t, const float*, const float*,
                    const int32_t*, plumb_error* error) { return no_kv(error); },
    .worker_create = worker_create,
    .worker_destroy = [](void* self,
                         plumb_handle worker) { state_of(self).workers.remove(worker); },
    // No op needs scratch.
    .plan = [](void*, const plumb_op*, uint32_t, plumb_error*) -> plumb_status { return PLUMB_OK; },
    .execute =
        [](void* self, const plumb_op* ops, uint32_t n_ops, plumb_handle worker, uint32_t part,
           uint32_t n_parts, plumb_error* error) {
          return execute(state_of(self), ops, n_ops, worker, part, n_parts, error);
        },
    .submit = nullptr,
    .fence = nullptr,
    .variant = nullptr,
    .prepare_begin = nullptr,
    .prepare_rows = nullptr,
    .numerics_of = nullptr,
};

}  // namespace
}  // namespace kernels

const void* PLUMB_CALL extension(plumb_str id) {
  return plumbline::to_view(id) == PLUMB_EXT_KERNELS ? &kernels::kTable : nullptr;
}

// With two ops it is for those who name it.
int32_t PLUMB_CALL rank() {
  return PLUMB_RANK_NAMED_ONLY;
}
