/* ext/kernels.h: "plumb.kernels/1", a backend: buffers, prepared weights, KV caches and the ops of a decoder.
 *
 * The host owns the model graph, the threads and every buffer's life. A backend owns layouts: of prepared
 * weights, quantised activations and KV rows. All that an op touches is a plumb_slice of a buffer that came
 * from this backend's alloc or import_fd, or a handle that this backend made.
 *
 * Numerics of the class "canonical-1" are specified in core/doc/numerics.md.
 */
#ifndef PLUMB_EXT_KERNELS_H
#define PLUMB_EXT_KERNELS_H

#include "plumb/formats.h"
#include "plumb/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PLUMB_EXT_KERNELS "plumb.kernels/1"

/* A place in a backend's memory. The zero value means "absent". offset_bytes is a multiple of the size of what lies
 * there (4 for f32 and i32, 8 for u64). */
typedef struct plumb_slice {
  plumb_handle buffer;
  uint64_t offset_bytes;
} plumb_slice;

/* ---- Ops ------------------------------------------------------------------------------------------- */

#define PLUMB_OP_EMBED 1      /* out[t] = dequantised row ids[t] of W. Learned positions: ids = positions */
#define PLUMB_OP_RMS_NORM 2   /* out = x / sqrt(mean(x^2) + eps) * w */
#define PLUMB_OP_LAYER_NORM 3 /* out = (x - mean) / sqrt(var + eps) * w + b */
#define PLUMB_OP_QUANTIZE 4   /* out = x as PLUMB_ACT_Q8, private layout */
#define PLUMB_OP_MATMUL 5     /* out[t,n] = sum_k x[t,k] * W[n,k] (+ bias[n]) */
#define PLUMB_OP_ROPE 6       /* rotate pairs of each head by table angles */
#define PLUMB_OP_KV_APPEND 7  /* write T rows of K and V into a KV cache */
#define PLUMB_OP_ATTEND 8     /* softmax(q.k * scale) v over the visible rows of a KV cache */
#define PLUMB_OP_ACTIVATE 9   /* out = f(a) or f(a) * b */
#define PLUMB_OP_ADD 10       /* out = a + b */
#define PLUMB_OP_SCALE 11     /* out = a * factor */
#define PLUMB_OP_SOFTCAP 12   /* out = cap * tanh(a / cap) */
#define PLUMB_OP_ARGMAX 13    /* out i32[T] = lowest index of the largest element of each row */

#define PLUMB_ROPE_HALF 0        /* pairs (i, i + n_rotated/2): Qwen, Gemma, GPT-NeoX */
#define PLUMB_ROPE_INTERLEAVED 1 /* pairs (2i, 2i + 1): Llama as stored in GGUF */

#define PLUMB_ACT_SILU 0
#define PLUMB_ACT_GELU_TANH 1
#define PLUMB_ACT_GELU_ERF 2

#define PLUMB_MASK_CAUSAL 0 /* key visible if key position <= query position */
#define PLUMB_MASK_WINDOW 1 /* causal, and query position - key position < window */
#define PLUMB_MASK_BITMAP 2 /* causal over rows before first_row; the T new rows as bits say (token trees) */

typedef struct plumb_op_embed {
  plumb_handle weight; /* prepared with PLUMB_USE_EMBED, [V,D] */
  plumb_slice ids;     /* i32[T]; an id outside [0,V) is INVALID_ARGUMENT */
  plumb_slice out;     /* f32[T,D] */
} plumb_op_embed;

/* Rows of `width` values. One activation row of D = H * C is normed per head by n_groups = H, width = C. */
typedef struct plumb_op_norm {
  plumb_slice in;      /* f32[T,n_groups,width] */
  plumb_slice out;     /* same shape; may be the same slice as in */
  plumb_handle weight; /* f32[width], prepared with PLUMB_USE_VECTOR; 0: all ones */
  plumb_handle bias;   /* LAYER_NORM only; 0: none */
  uint32_t n_groups;
  uint32_t width;
  float epsilon;
  uint32_t reserved;
} plumb_op_norm;

typedef struct plumb_op_quantize {
  plumb_slice in;  /* f32[T,width], width a multiple of 32 */
  plumb_slice out; /* activation_bytes(T, width) bytes */
  uint32_t width;
  uint32_t reserved;
} plumb_op_quantize;

typedef struct plumb_op_matmul {
  plumb_handle weight;    /* [n_out,n_in], prepared with PLUMB_USE_MATMUL */
  plumb_handle bias;      /* f32[n_out], added to the finished sum; 0: none */
  plumb_slice in;         /* [T,n_in] in in_format */
  plumb_slice out;        /* f32[T,n_out] */
  plumb_format in_format; /* PLUMB_F32 or PLUMB_ACT_Q8 */
  uint32_t n_in;
  uint32_t n_out;
  uint32_t reserved;
} plumb_op_matmul;

typedef struct plumb_op_rope {
  plumb_slice in;        /* f32[T,n_heads,head_width] */
  plumb_slice out;       /* same shape; may be the same slice as in */
  plumb_slice positions; /* i32[T], each in [0,table_rows) */
  plumb_slice cos_table; /* f32[table_rows,n_rotated/2] */
  plumb_slice sin_table;
  uint32_t table_rows;
  uint32_t n_heads;
  uint32_t head_width;
  uint32_t n_rotated; /* even, <= head_width; the rest of a head is copied */
  uint32_t pairing;   /* PLUMB_ROPE_* */
  uint32_t reserved;
} plumb_op_rope;

typedef struct plumb_op_kv_append {
  plumb_handle kv;
  plumb_slice k;         /* f32[T,K,C] */
  plumb_slice v;         /* f32[T,K,C] */
  plumb_slice positions; /* i32[T], each >= 0, stored with the rows */
  uint32_t first_row;    /* rows [first_row, first_row + T) are written; <= rows held; rows behind are dropped */
  uint32_t reserved;
} plumb_op_kv_append;

/* A query that sees no row is INVALID_ARGUMENT; a visible score that is not finite, NUMERIC. */
typedef struct plumb_op_attend {
  plumb_handle kv;
  plumb_slice q;         /* f32[T,H,C] */
  plumb_slice out;       /* f32[T,H,C] */
  plumb_slice positions; /* i32[T]: the queries' positions, each >= 0 */
  plumb_slice bitmap;    /* PLUMB_MASK_BITMAP: u64[T,ceil(T/64)], bit j of row i: query i sees new row j */
  uint32_t n_rows_kv;    /* rows [0, n_rows_kv) of the cache take part; <= rows held */
  uint32_t first_row;    /* PLUMB_MASK_BITMAP: the row of the first of the T new rows: n_rows_kv - T */
  uint32_t n_heads;      /* H, a multiple of the cache's K; head h reads kv head h / (H / K) */
  uint32_t mask;         /* PLUMB_MASK_* */
  uint32_t window;       /* PLUMB_MASK_WINDOW: > 0 */
  float scale;
  float softcap; /* scores = softcap * tanh(scores / softcap); 0: none */
  uint32_t reserved;
} plumb_op_attend;

/* ACTIVATE, ADD, SCALE, SOFTCAP: elementwise over f32[T,width]. */
typedef struct plumb_op_elementwise {
  plumb_slice a;
  plumb_slice b;   /* ADD: required. ACTIVATE: the factor of a gated unit, or absent */
  plumb_slice out; /* may be the same slice as a or b */
  uint32_t width;
  uint32_t function; /* ACTIVATE: PLUMB_ACT_* */
  float parameter;   /* SCALE: the factor. SOFTCAP: the cap, > 0 */
  uint32_t reserved;
} plumb_op_elementwise;

typedef struct plumb_op_argmax {
  plumb_slice in;  /* f32[T,width] */
  plumb_slice out; /* i32[T] */
  uint32_t width;
  uint32_t reserved;
} plumb_op_argmax;

/* One op. The members of `as` are part of this struct and covered by its struct_bytes. */
typedef struct plumb_op {
  uint32_t struct_bytes;
  uint32_t kind;   /* PLUMB_OP_* */
  uint32_t id;     /* the host's name for this op; comes back in plumb_error.op_id */
  uint32_t n_rows; /* T >= 1 */
  union {
    plumb_op_embed embed;
    plumb_op_norm norm;
    plumb_op_quantize quantize;
    plumb_op_matmul matmul;
    plumb_op_rope rope;
    plumb_op_kv_append kv_append;
    plumb_op_attend attend;
    plumb_op_elementwise elementwise;
    plumb_op_argmax argmax;
    uint64_t reserved[22];
  } as;
} plumb_op;

/* The question of supports(): the op's kind and whatever of the rest matters for it. */
typedef struct plumb_op_query {
  uint32_t struct_bytes;
  uint32_t kind;
  plumb_format weight_format; /* EMBED, MATMUL */
  plumb_format in_format;     /* MATMUL */
  uint64_t n_in;              /* MATMUL, QUANTIZE, norms, elementwise: the width that is read */
  uint64_t n_out;             /* MATMUL, EMBED */
  uint32_t head_width;        /* ROPE, KV_APPEND, ATTEND */
  uint32_t variant;           /* PLUMB_ACT_*, PLUMB_ROPE_* or PLUMB_MASK_*, as the kind asks */
} plumb_op_query;

/* ---- Weights, KV caches ---------------------------------------------------------------------------- */

#define PLUMB_USE_MATMUL 1u
#define PLUMB_USE_EMBED 2u
#define PLUMB_USE_VECTOR 4u /* a norm weight or bias: becomes f32 */

#define PLUMB_PIECE_ROWS 64u /* pieces of a tensor start at multiples of it */

#define PLUMB_ALLOC_SHARED 1u /* must be importable by another process: a memfd */

typedef struct plumb_kv_shape {
  uint32_t struct_bytes;
  plumb_format format; /* PLUMB_F32 (or PLUMB_F16 where supported) */
  uint32_t capacity_rows;
  uint32_t n_heads_kv; /* K */
  uint32_t head_width; /* C */
  uint32_t reserved;
} plumb_kv_shape;

typedef struct plumb_kernels_config {
  uint32_t struct_bytes;
  uint32_t n_workers_max; /* as many worker_create calls will come at most */
  plumb_str options_json; /* the backend's own options out of the config; "{}" if none */
  plumb_str variant;      /* a name of `variant` below; empty: the best that this machine can run */
} plumb_kernels_config;

typedef struct plumb_kernels {
  uint32_t struct_bytes;
  uint32_t reserved;

  /* "canonical-1", "fast" (bounds are then stated in the manifest), or a name of the backend's own, as
   * "reference-f64/1". Only equal names promise equal bits, and "fast" never does. */
  plumb_str numerics;

  /* A backend instance. self is the first argument of all that follows. [any-thread] */
  plumb_status(PLUMB_CALL* create)(const plumb_host* host, const plumb_kernels_config* config, void** self,
                                   plumb_error* error);
  /* Everything made by the instance must have been freed before. */
  void(PLUMB_CALL* destroy)(void* self);

  /* OK, or UNSUPPORTED with the reason. Exact; allocates nothing. [any-thread] */
  plumb_status(PLUMB_CALL* supports)(void* self, const plumb_op_query* query, plumb_error* error);

  /* Buffers. 64-byte aligned, contents undefined. [any-thread] */
  plumb_status(PLUMB_CALL* alloc)(void* self, uint64_t bytes, uint32_t flags, plumb_handle* buffer, plumb_error* error);
  void(PLUMB_CALL* free)(void* self, plumb_handle buffer);
  /* Optional (may be null): a buffer over [offset, offset + bytes) of a file descriptor, mapped shared. The
   * backend duplicates fd. */
  plumb_status(PLUMB_CALL* import_fd)(void* self, int32_t fd, uint64_t offset, uint64_t bytes, plumb_handle* buffer,
                                      plumb_error* error);
  /* Copies between host memory and a slice. INVALID_ARGUMENT if the range leaves the buffer. [any-thread] */
  plumb_status(PLUMB_CALL* read)(void* self, plumb_slice from, void* to, uint64_t bytes, plumb_error* error);
  plumb_status(PLUMB_CALL* write)(void* self, plumb_slice to, const void* from, uint64_t bytes, plumb_error* error);
  /* Optional: the slice as host memory, or null. [any-thread] */
  void*(PLUMB_CALL* host_pointer)(void* self, plumb_slice slice);

  /* Weights. prepare_bytes: how much room the private layout needs; 0 means that the tensor is used where it
   * lies, so the host keeps it mapped until release. prepare writes [destination, +bytes) and answers with a
   * handle; the host may then drop the source (unless bytes was 0). `uses` is a set of PLUMB_USE_*.
   * Fails UNSUPPORTED (format, shape), CORRUPT (a scale that is not finite; the error names the block).
   * [any-thread], several tensors at once. */
  plumb_status(PLUMB_CALL* prepare_bytes)(void* self, const plumb_tensor* tensor, uint32_t uses, uint64_t* bytes,
                                          plumb_error* error);
  plumb_status(PLUMB_CALL* prepare)(void* self, const plumb_tensor* tensor, uint32_t uses, plumb_slice destination,
                                    plumb_handle* weight, plumb_error* error);
  void(PLUMB_CALL* release)(void* self, plumb_handle weight);

  /* Bytes of T rows of `width` activations in PLUMB_ACT_Q8; grows with T. 0: quantize is unsupported. */
  uint64_t(PLUMB_CALL* activation_bytes)(void* self, uint64_t n_rows, uint64_t width);

  /* KV caches, one for each layer. A new cache holds 0 rows. [one-at-a-time for each cache] */
  plumb_status(PLUMB_CALL* kv_create)(void* self, const plumb_kv_shape* shape, plumb_handle* kv, plumb_error* error);
  void(PLUMB_CALL* kv_destroy)(void* self, plumb_handle kv);
  /* Rows >= n_rows are dropped. INVALID_ARGUMENT if n_rows is more than it holds. */
  plumb_status(PLUMB_CALL* kv_truncate)(void* self, plumb_handle kv, uint32_t n_rows, plumb_error* error);
  /* Rows [first, first + n) in canonical form: k, v f32[n,K,C], positions i32[n]; null pointers are skipped.
   * kv_import overwrites or extends (first <= rows held). Exact for f32 caches. */
  plumb_status(PLUMB_CALL* kv_export)(void* self, plumb_handle kv, uint32_t first, uint32_t n, float* k, float* v,
                                      int32_t* positions, plumb_error* error);
  plumb_status(PLUMB_CALL* kv_import)(void* self, plumb_handle kv, uint32_t first, uint32_t n, const float* k,
                                      const float* v, const int32_t* positions, plumb_error* error);

  /* State of one thread (an engine instance, a stack, scratch). */
  plumb_status(PLUMB_CALL* worker_create)(void* self, uint32_t index, plumb_handle* worker, plumb_error* error);
  void(PLUMB_CALL* worker_destroy)(void* self, plumb_handle worker);
  /* Scratch that ops of this step may need for each worker is sized here, before execute: `ops` as they will
   * be executed, at their largest n_rows. execute allocates nothing. [one-at-a-time] */
  plumb_status(PLUMB_CALL* plan)(void* self, const plumb_op* ops, uint32_t n_ops, plumb_error* error);

  /* Part `part` of n_parts of each op in the list; records lie ops[0].struct_bytes apart. The ops of one call do not depend on each other; the host
   * calls every part exactly once and puts a barrier behind. Results do not depend on n_parts (class
   * canonical). The lowest failing part's status wins. NUMERIC if a value is NaN or infinite where the op
   * must not let it pass (quantize, attend scores, argmax); error->op_id names the op. [worker] */
  plumb_status(PLUMB_CALL* execute)(void* self, const plumb_op* ops, uint32_t n_ops, plumb_handle worker, uint32_t part,
                                    uint32_t n_parts, plumb_error* error);

  /* Optional, for asynchronous devices (both or none): submit enqueues a list whose ops may depend on each
   * other in order; fence waits until all that was submitted is readable. */
  plumb_status(PLUMB_CALL* submit)(void* self, const plumb_op* ops, uint32_t n_ops, plumb_error* error);
  plumb_status(PLUMB_CALL* fence)(void* self, plumb_error* error);

  /* Optional: one library may hold its kernels in several variants, as with and without an instruction that only
   * some processors have. Names number `index`, best first, for plumb_kernels_config.variant. OK; UNSUPPORTED with
   * the name and what this machine lacks; NOT_FOUND behind the last. All give the same results in class canonical.
   * [any-thread] */
  plumb_status(PLUMB_CALL* variant)(uint32_t index, plumb_str* name, plumb_error* error);

  /* Optional (both or none): prepare in pieces, so that threads share one tensor and the host drops its source bit
   * by bit. prepare_begin is prepare without the writing; prepare_rows then writes rows [first_row, first_row +
   * n_rows) of the same tensor; a vector is one row. first_row and, but for the last piece, n_rows are multiples of
   * PLUMB_PIECE_ROWS. The weight may be used when every row was written. Fail as prepare does; INVALID_ARGUMENT for
   * rows outside the tensor or another tensor. [any-thread], several pieces at once. */
  plumb_status(PLUMB_CALL* prepare_begin)(void* self, const plumb_tensor* tensor, uint32_t uses,
                                          plumb_slice destination, plumb_handle* weight, plumb_error* error);
  plumb_status(PLUMB_CALL* prepare_rows)(void* self, plumb_handle weight, const plumb_tensor* tensor,
                                         uint64_t first_row, uint64_t n_rows, plumb_error* error);

  /* Optional: the class of this instance, where `numerics` cannot know it: of a backend that wraps another.
   * [any-thread] */
  plumb_str(PLUMB_CALL* numerics_of)(void* self);
} plumb_kernels;

#ifdef __cplusplus
}
#endif
#endif
