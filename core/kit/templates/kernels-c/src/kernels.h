/* kernels.h: what an instance owns, and the functions of the table by the file that has them. */
#ifndef KERNELS_H
#define KERNELS_H

#include <stdatomic.h>

#include "plugin.h"

/* 32 values: scale * code. Prepared weights and quantised activations both lie so, row after row:
 * no half precision and nothing unaligned is left for the inner loop. */
typedef struct block {
  float scale;
  int8_t codes[PLUMB_QK];
} block;

enum object_kind { BUFFER = 1, MATRIX = 2, VECTOR = 3, WORKER = 4 };

/* What a handle stands for. */
typedef struct object {
  uint32_t kind;
  uint64_t bytes; /* BUFFER */
  void* memory; /* BUFFER: 64-byte aligned */
  const void* values; /* MATRIX: block[n_out, n_in / 32]. VECTOR: f32[n_in] */
  uint64_t n_out, n_in;
} object;

#define N_SLOTS 65536u

/* Handles are places in the table, counted from 1. A place is taken and given back by one atomic
 * step, so that any thread may make and find objects. */
typedef struct instance {
  uint32_t n_workers_max;
  _Atomic(object*) slots[N_SLOTS];
} instance;

/* objects.c. 0: out of memory, or the table is full. find: null unless it is a live object of that
 * kind. */
plumb_handle add(instance* self, object content);
object* find(instance* self, plumb_handle handle, uint32_t kind);
void drop(instance* self, plumb_handle handle, uint32_t kind);
/* [slice, +bytes) as memory; null if it leaves its buffer, or is not aligned. */
void* resolve(instance* self, plumb_slice slice, uint64_t bytes, uint64_t alignment);
plumb_status PLUMB_CALL alloc_buffer(void* self, uint64_t bytes, uint32_t flags,
                                     plumb_handle* buffer, plumb_error* error);
void PLUMB_CALL free_buffer(void* self, plumb_handle buffer);
plumb_status PLUMB_CALL read_buffer(void* self, plumb_slice from, void* to, uint64_t bytes,
                                    plumb_error* error);
plumb_status PLUMB_CALL write_buffer(void* self, plumb_slice to, const void* from, uint64_t bytes,
                                     plumb_error* error);
void* PLUMB_CALL host_pointer(void* self, plumb_slice slice);

/* weights.c */
plumb_status PLUMB_CALL prepare_bytes(void* self, const plumb_tensor* tensor, uint32_t uses,
                                      uint64_t* bytes, plumb_error* error);
plumb_status PLUMB_CALL prepare(void* self, const plumb_tensor* tensor, uint32_t uses,
                                plumb_slice destination, plumb_handle* weight, plumb_error* error);
void PLUMB_CALL release(void* self, plumb_handle weight);

/* ops.c */
plumb_status PLUMB_CALL supports(void* self, const plumb_op_query* query, plumb_error* error);
plumb_status PLUMB_CALL execute(void* self, const plumb_op* ops, uint32_t n_ops,
                                plumb_handle worker, uint32_t part, uint32_t n_parts,
                                plumb_error* error);

/* matmul.c. out f32[n_rows, n_out] for the outputs [first, last); bias f32[n_out] or null. */
void matmul(const block* weight, const block* in, const float* bias, uint64_t n_rows, uint64_t n_in,
            uint64_t n_out, uint64_t first, uint64_t last, float* out);
/* One block of activations. 0 if a value is NaN or infinite. */
int quantize(const float* in, block* out);

#endif
