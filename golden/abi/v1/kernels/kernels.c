/* The table of plumb.kernels/1, and an instance's life. */
#include "kernels.h"

#include <stdlib.h>
#include <string.h>

static plumb_status PLUMB_CALL create(const plumb_host* host, const plumb_kernels_config* config,
                                      void** self, plumb_error* error) {
  (void)host;
  if (self == NULL || config == NULL || !PLUMB_HAS(config, plumb_kernels_config, options_json))
    return refuse(error, PLUMB_INVALID_ARGUMENT, "create: the config is missing or too short");
  const plumb_str options = config->options_json;
  if (options.bytes != 0 && (options.bytes != 2 || memcmp(options.data, "{}", 2) != 0))
    return refuse(error, PLUMB_INVALID_CONFIG, "options: this backend has none");
  if (PLUMB_HAS(config, plumb_kernels_config, variant) && config->variant.bytes != 0)
    return refuse(error, PLUMB_INVALID_CONFIG, "variant: this backend has none");
  instance* made = calloc(1, sizeof *made);
  if (made == NULL) return refuse(error, PLUMB_INTERNAL, "create: out of memory");
  made->n_workers_max = config->n_workers_max;
  *self = made;
  return PLUMB_OK;
}

static void PLUMB_CALL destroy(void* self) {
  instance* ended = self;
  for (uint32_t i = 0; ended != NULL && i < N_SLOTS; ++i) {
    object* left = atomic_load(&ended->slots[i]);
    if (left != NULL) drop(ended, i + 1, left->kind);
  }
  free(ended);
}

static uint64_t PLUMB_CALL activation_bytes(void* self, uint64_t n_rows, uint64_t width) {
  (void)self;
  const uint64_t row_bytes = width / PLUMB_QK * sizeof(block);
  if (width % PLUMB_QK != 0 || row_bytes == 0 || n_rows > UINT64_MAX / row_bytes) return 0;
  return n_rows * row_bytes;
}

static plumb_status PLUMB_CALL worker_create(void* self, uint32_t index, plumb_handle* worker,
                                             plumb_error* error) {
  instance* owner = self;
  if (worker == NULL || index >= owner->n_workers_max)
    return refuse(error, PLUMB_INVALID_ARGUMENT, "worker_create: more than the config allows");
  *worker = add(owner, (object){.kind = WORKER});
  return *worker != 0 ? PLUMB_OK : refuse(error, PLUMB_INTERNAL, "worker_create: out of memory");
}

static void PLUMB_CALL worker_destroy(void* self, plumb_handle worker) {
  drop(self, worker, WORKER);
}

/* No op needs scratch. */
static plumb_status PLUMB_CALL plan(void* self, const plumb_op* ops, uint32_t n_ops,
                                    plumb_error* error) {
  (void)self, (void)ops, (void)n_ops, (void)error;
  return PLUMB_OK;
}

/* KV caches are another backend's. */
static plumb_status no_kv(plumb_error* error) {
  return refuse(error, PLUMB_UNSUPPORTED, "this backend has no KV caches");
}
static plumb_status PLUMB_CALL kv_create(void* self, const plumb_kv_shape* shape, plumb_handle* kv,
                                         plumb_error* error) {
  (void)self, (void)shape, (void)kv;
  return no_kv(error);
}
static void PLUMB_CALL kv_destroy(void* self, plumb_handle kv) {
  (void)self, (void)kv;
}
static plumb_status PLUMB_CALL kv_truncate(void* self, plumb_handle kv, uint32_t n_rows,
                                           plumb_error* error) {
  (void)self, (void)kv, (void)n_rows;
  return no_kv(error);
}
static plumb_status PLUMB_CALL kv_export(void* self, plumb_handle kv, uint32_t first, uint32_t n,
                                         float* k, float* v, int32_t* positions,
                                         plumb_error* error) {
  (void)self, (void)kv, (void)first, (void)n, (void)k, (void)v, (void)positions;
  return no_kv(error);
}
static plumb_status PLUMB_CALL kv_import(void* self, plumb_handle kv, uint32_t first, uint32_t n,
                                         const float* k, const float* v, const int32_t* positions,
                                         plumb_error* error) {
  (void)self, (void)kv, (void)first, (void)n, (void)k, (void)v, (void)positions;
  return no_kv(error);
}

static const plumb_kernels table = {
    .struct_bytes = sizeof(plumb_kernels),
    .numerics = {"canonical-1", 11},
    .create = create,
    .destroy = destroy,
    .supports = supports,
    .alloc = alloc_buffer,
    .free = free_buffer,
    .read = read_buffer,
    .write = write_buffer,
    .host_pointer = host_pointer,
    .prepare_bytes = prepare_bytes,
    .prepare = prepare,
    .release = release,
    .activation_bytes = activation_bytes,
    .kv_create = kv_create,
    .kv_destroy = kv_destroy,
    .kv_truncate = kv_truncate,
    .kv_export = kv_export,
    .kv_import = kv_import,
    .worker_create = worker_create,
    .worker_destroy = worker_destroy,
    .plan = plan,
    .execute = execute,
};

const char extension_id[] = PLUMB_EXT_KERNELS;
const void* const extension_table = &table;
/* With two ops it is for those who name it. */
const int32_t plugin_rank = PLUMB_RANK_NAMED_ONLY;
