/* metadata.h: typed key-value facts that a loader publishes and tokenizers read. */
#ifndef PLUMB_METADATA_H
#define PLUMB_METADATA_H

#include "plumb/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PLUMB_VALUE_NONE 0
#define PLUMB_VALUE_I64 1
#define PLUMB_VALUE_U64 2
#define PLUMB_VALUE_F64 3
#define PLUMB_VALUE_BOOL 4 /* in u64: 0 or 1 */
#define PLUMB_VALUE_STR 5
#define PLUMB_VALUE_I32_ARRAY 6
#define PLUMB_VALUE_F32_ARRAY 7
#define PLUMB_VALUE_STR_ARRAY 8

/* One value. Pointers are borrowed from the metadata's owner and live as long as it. */
typedef struct plumb_value {
  uint32_t struct_bytes;
  uint32_t type; /* PLUMB_VALUE_* */
  union {
    int64_t i64;
    uint64_t u64;
    double f64;
    plumb_str str;
    struct {
      const void* data; /* int32_t, float or plumb_str, by type */
      uint64_t n;
    } array;
  } as;
} plumb_value;

/* Keys are GGUF's: "tokenizer.ggml.model", "tokenizer.ggml.tokens" (STR_ARRAY), "tokenizer.ggml.scores",
 * "tokenizer.ggml.token_type", "tokenizer.ggml.merges", "tokenizer.ggml.bos_token_id",
 * "tokenizer.chat_template", ... Loaders of other files translate into them.
 * Source: the GGUF specification, "Standardized key-value pairs". */
typedef struct plumb_metadata {
  uint32_t struct_bytes;
  uint32_t reserved;
  void* context;
  /* OK and *value filled in. NOT_FOUND, and UNSUPPORTED where the key is there but no type above holds its value
   * without loss, leave *value of type NONE. [any-thread] */
  plumb_status(PLUMB_CALL* get)(void* context, plumb_str key, plumb_value* value);
  /* The i-th key in file order; an empty view past the end. [any-thread] */
  plumb_str(PLUMB_CALL* key_at)(void* context, uint64_t index);
} plumb_metadata;

#ifdef __cplusplus
}
#endif
#endif
