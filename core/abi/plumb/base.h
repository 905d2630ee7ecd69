/* base.h: version, views, status codes and errors. The vocabulary of every other header.
 *
 * Rules of the whole ABI (core/doc/abi.md tells why)
 *  - C11, fixed-width integers, UTF-8 views; no bool, size_t or enum-typed field in a struct.
 *  - Every struct that crosses the line starts with struct_bytes = sizeof of the writer's version and only
 *    grows at its end. A reader uses a field only if struct_bytes covers it (PLUMB_HAS). The views and
 *    plumb_slice below are frozen value types and the one exception.
 *  - A pointer passed in is borrowed until the call returns, unless its comment says otherwise.
 *  - No exception, abort, exit, printing or global mutable state in a plugin.
 *  - Unknown enum values are answered with an error code.
 *
 * Shape letters: T tokens of this call, S rows in the KV cache, D model width, H query heads, K key/value
 * heads, C head width, F feed-forward width, V vocabulary, L layers. Row-major, last index fastest.
 *
 * Thread tags, at the end of a function's comment; without one, a function is one-at-a-time
 *  [any-thread]     may be called from several threads at once, on one instance too
 *  [one-at-a-time]  one call at a time for each instance, from any thread
 *  [worker]         at once from several threads, each with its own worker handle
 */
#ifndef PLUMB_BASE_H
#define PLUMB_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version that these headers describe, and the oldest that a host built from them still accepts. */
#define PLUMB_ABI_VERSION 1u
#define PLUMB_ABI_OLDEST 1u

#if defined(_WIN32)
#define PLUMB_CALL __cdecl
#define PLUMB_EXPORT __declspec(dllexport)
#else
#define PLUMB_CALL
#define PLUMB_EXPORT __attribute__((visibility("default")))
#endif

/* True if the struct that p points to is large enough to hold the field. */
#define PLUMB_HAS(p, type, field) ((p)->struct_bytes >= offsetof(type, field) + sizeof(((const type*)0)->field))

/* Status codes: each says who must act. */
typedef int32_t plumb_status;
#define PLUMB_OK 0
#define PLUMB_INVALID_ARGUMENT 1 /* the caller */
#define PLUMB_INVALID_CONFIG 2   /* the author of the config */
#define PLUMB_NOT_FOUND 3        /* the author of the config */
#define PLUMB_UNSUPPORTED 4      /* pick another plugin */
#define PLUMB_INCOMPATIBLE 5     /* rebuild the plugin */
#define PLUMB_CORRUPT 6          /* replace the file */
#define PLUMB_NUMERIC 7          /* NaN or infinity: investigate */
#define PLUMB_MORE_SPACE 8       /* call again with the size that was reported */
#define PLUMB_CANCELLED 9        /* nobody: the user asked for it */
#define PLUMB_INTERNAL 10        /* whoever broke a promise */

/* UTF-8 text, not zero-terminated. Empty: bytes == 0 (data may be null). */
typedef struct plumb_str {
  const char* data;
  uint64_t bytes;
} plumb_str;

typedef struct plumb_bytes {
  const uint8_t* data;
  uint64_t bytes;
} plumb_bytes;

/* A half-open range of bytes. */
typedef struct plumb_span {
  uint64_t begin;
  uint64_t end;
} plumb_span;

/* A caller-owned place for a message: seen, expected, where; lower case, no full stop, one line.
 * The callee writes at most capacity_bytes of UTF-8 without a zero and sets message_bytes.
 * A null plumb_error* is legal everywhere. */
typedef struct plumb_error {
  uint32_t struct_bytes;
  uint32_t capacity_bytes;
  char* message;
  uint32_t message_bytes;
  uint32_t op_id; /* plumb_op.id of the op that failed; 0xffffffff if none */
} plumb_error;

#define PLUMB_NO_OP 0xffffffffu

/* An object of a plugin, or 0 for none. Opaque: only its maker interprets it. */
typedef uint64_t plumb_handle;

#ifdef __cplusplus
}
#endif
#endif
