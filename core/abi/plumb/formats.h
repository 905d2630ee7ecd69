/* formats.h: element and block formats of tensors: a data contract between loaders and kernels.
 * Source: the GGUF specification and ggml-common.h's block structs (layout facts; ids are GGUF's own).
 * f16 fields are IEEE binary16 bit patterns; everything is little-endian. */
#ifndef PLUMB_FORMATS_H
#define PLUMB_FORMATS_H

#include "plumb/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t plumb_format;
#define PLUMB_F32 0
#define PLUMB_F16 1
#define PLUMB_Q4_0 2
#define PLUMB_Q4_1 3
#define PLUMB_Q5_0 6
#define PLUMB_Q5_1 7
#define PLUMB_Q8_0 8
#define PLUMB_Q2_K 10
#define PLUMB_Q3_K 11
#define PLUMB_Q4_K 12
#define PLUMB_Q5_K 13
#define PLUMB_Q6_K 14
#define PLUMB_I32 26
#define PLUMB_BF16 30
/* Activations quantised by the `quantize` op: blocks of 32 int8 codes; the layout is private to a backend. */
#define PLUMB_ACT_Q8 1000

#define PLUMB_QK 32    /* values in a block of Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 and of quantised activations */
#define PLUMB_QK_K 256 /* values in a super-block of the K formats */

typedef struct plumb_block_q4_0 {
  uint16_t d;     /* f16 scale */
  uint8_t qs[16]; /* value i in the low nibble of qs[i] for i < 16, value 16 + i in the high one; minus 8 */
} plumb_block_q4_0;

typedef struct plumb_block_q4_1 {
  uint16_t d, m; /* f16 scale, f16 minimum: x = d * q + m */
  uint8_t qs[16];
} plumb_block_q4_1;

typedef struct plumb_block_q5_0 {
  uint16_t d;
  uint8_t qh[4]; /* bit i of the little-endian u32 is bit 4 of value i; minus 16 */
  uint8_t qs[16];
} plumb_block_q5_0;

typedef struct plumb_block_q5_1 {
  uint16_t d, m;
  uint8_t qh[4];
  uint8_t qs[16];
} plumb_block_q5_1;

typedef struct plumb_block_q8_0 {
  uint16_t d;
  int8_t qs[32];
} plumb_block_q8_0;

typedef struct plumb_block_q2_k {
  uint8_t scales[16]; /* 16 sub-blocks of 16: low nibble scale, high nibble minimum */
  uint8_t qs[64];
  uint16_t d, dmin; /* x = d * sc * q - dmin * mn */
} plumb_block_q2_k;

typedef struct plumb_block_q3_k {
  uint8_t hmask[32];
  uint8_t qs[64];
  uint8_t scales[12]; /* 16 scales of 6 bits, minus 32 */
  uint16_t d;
} plumb_block_q3_k;

typedef struct plumb_block_q4_k {
  uint16_t d, dmin;
  uint8_t scales[12]; /* 8 scales and 8 minima of 6 bits */
  uint8_t qs[128];
} plumb_block_q4_k;

typedef struct plumb_block_q5_k {
  uint16_t d, dmin;
  uint8_t scales[12];
  uint8_t qh[32];
  uint8_t qs[128];
} plumb_block_q5_k;

typedef struct plumb_block_q6_k {
  uint8_t ql[128];
  uint8_t qh[64];
  int8_t scales[16];
  uint16_t d;
} plumb_block_q6_k;

#ifdef __cplusplus
#define PLUMB_STATIC_ASSERT static_assert
#else
#define PLUMB_STATIC_ASSERT _Static_assert
#endif
PLUMB_STATIC_ASSERT(sizeof(plumb_block_q4_0) == 18, "q4_0");
PLUMB_STATIC_ASSERT(sizeof(plumb_block_q4_1) == 20, "q4_1");
PLUMB_STATIC_ASSERT(sizeof(plumb_block_q5_0) == 22, "q5_0");
PLUMB_STATIC_ASSERT(sizeof(plumb_block_q5_1) == 24, "q5_1");
PLUMB_STATIC_ASSERT(sizeof(plumb_block_q8_0) == 34, "q8_0");
PLUMB_STATIC_ASSERT(sizeof(plumb_block_q2_k) == 84, "q2_k");
PLUMB_STATIC_ASSERT(sizeof(plumb_block_q3_k) == 110, "q3_k");
PLUMB_STATIC_ASSERT(sizeof(plumb_block_q4_k) == 144, "q4_k");
PLUMB_STATIC_ASSERT(sizeof(plumb_block_q5_k) == 176, "q5_k");
PLUMB_STATIC_ASSERT(sizeof(plumb_block_q6_k) == 210, "q6_k");

/* A tensor as a loader hands it over. Row-major: dims[rank - 1] is fastest. data is borrowed from the opened
 * model. Unused dims are 1. */
typedef struct plumb_tensor {
  uint32_t struct_bytes;
  plumb_format format;
  plumb_str name;
  uint32_t rank; /* 1..4 */
  uint32_t reserved;
  uint64_t dims[4];
  plumb_bytes data;     /* exactly the bytes that format and dims ask for */
  uint64_t file_offset; /* where data starts in its file, for messages and for plumb_kernels.import_fd */
} plumb_tensor;

#ifdef __cplusplus
}
#endif
#endif
