/* Handles and buffers. */
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

plumb_handle add(instance* self, object content) {
  object* made = malloc(sizeof *made);
  if (made == NULL) return 0;
  *made = content;
  for (uint32_t i = 0; i < N_SLOTS; ++i) {
    object* none = NULL;
    if (atomic_compare_exchange_strong(&self->slots[i], &none, made)) return i + 1;
  }
  free(made);
  return 0;
}

object* find(instance* self, plumb_handle handle, uint32_t kind) {
  if (handle == 0 || handle > N_SLOTS) return NULL;
  object* found = atomic_load(&self->slots[handle - 1]);
  return found != NULL && found->kind == kind ? found : NULL;
}

void drop(instance* self, plumb_handle handle, uint32_t kind) {
  object* found = find(self, handle, kind);
  if (found == NULL) return;
  atomic_store(&self->slots[handle - 1], NULL);
  free(found->memory);
  free(found);
}

void* resolve(instance* self, plumb_slice slice, uint64_t bytes, uint64_t alignment) {
  const object* buffer = find(self, slice.buffer, BUFFER);
  if (buffer == NULL || slice.offset_bytes > buffer->bytes ||
      bytes > buffer->bytes - slice.offset_bytes || slice.offset_bytes % alignment != 0) {
    return NULL;
  }
  return (char*)buffer->memory + slice.offset_bytes;
}

plumb_status PLUMB_CALL alloc_buffer(void* self, uint64_t bytes, uint32_t flags,
                                     plumb_handle* buffer, plumb_error* error) {
  if (buffer == NULL)
    return refuse(error, PLUMB_INVALID_ARGUMENT, "alloc: no place for the handle");
  if (flags != 0) return refuse(error, PLUMB_UNSUPPORTED, "alloc: this memory is private");
  if (bytes > SIZE_MAX / 2) return refuse(error, PLUMB_INTERNAL, "alloc: out of memory");
  object made = {.kind = BUFFER, .bytes = bytes};
  made.memory = aligned_alloc(64, (bytes / 64 + 1) * 64);
  *buffer = made.memory == NULL ? 0 : add(self, made);
  if (*buffer != 0) return PLUMB_OK;
  free(made.memory);
  return refuse(error, PLUMB_INTERNAL, "alloc: out of memory");
}

void PLUMB_CALL free_buffer(void* self, plumb_handle buffer) {
  drop(self, buffer, BUFFER);
}

plumb_status PLUMB_CALL read_buffer(void* self, plumb_slice from, void* to, uint64_t bytes,
                                    plumb_error* error) {
  const void* memory = resolve(self, from, bytes, 1);
  if (memory == NULL) return refuse(error, PLUMB_INVALID_ARGUMENT, "read: outside a live buffer");
  if (bytes != 0) memcpy(to, memory, bytes);
  return PLUMB_OK;
}

plumb_status PLUMB_CALL write_buffer(void* self, plumb_slice to, const void* from, uint64_t bytes,
                                     plumb_error* error) {
  void* memory = resolve(self, to, bytes, 1);
  if (memory == NULL) return refuse(error, PLUMB_INVALID_ARGUMENT, "write: outside a live buffer");
  if (bytes != 0) memcpy(memory, from, bytes);
  return PLUMB_OK;
}

void* PLUMB_CALL host_pointer(void* self, plumb_slice slice) {
  return resolve(self, slice, 0, 1);
}
