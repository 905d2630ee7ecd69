/* ext/template.h: "plumb.template/1", a chat template engine: template text + context -> prompt bytes. */
#ifndef PLUMB_EXT_TEMPLATE_H
#define PLUMB_EXT_TEMPLATE_H

#include "plumb/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PLUMB_EXT_TEMPLATE "plumb.template/1"

/* A caller's room for spans. */
typedef struct plumb_spans {
  uint32_t struct_bytes;
  uint32_t reserved;
  plumb_span* spans; /* capacity entries */
  uint64_t capacity;
  uint64_t n; /* written by the callee: how many there are, also with MORE_SPACE; the caller sets PLUMB_NO_SPANS */
} plumb_spans;
#define PLUMB_NO_SPANS UINT64_MAX

typedef struct plumb_render_request {
  uint32_t struct_bytes;
  uint32_t reserved;
  plumb_str context_json; /* an object; its keys are the template's variables; key order is kept */
  int64_t now_unix_s;     /* the clock that strftime_now sees, UTC */
  uint64_t fuel;          /* evaluation steps before the engine gives up; 0: the engine's default */
  /* Provenance: an array of JSON pointers (RFC 6901) into the context. Every string at one or below it, keys
   * included, was written by a stranger. A pointer that leads nowhere is INVALID_ARGUMENT. */
  plumb_str untrusted_json;
  /* The sorted, disjoint ranges of the rendered bytes in which such strings stand, or what was computed from them.
   * An engine that cannot tell leaves untrusted->n as it is. Null: not wanted. */
  plumb_spans* untrusted;
} plumb_render_request;

typedef struct plumb_template_engine {
  uint32_t struct_bytes;
  uint32_t reserved;

  /* Compiles a template. options_json: {"undefined": "strict" | "semi_strict" | "hf"}.
   * Fails INVALID_CONFIG (options), CORRUPT (syntax; line and column). [any-thread] */
  plumb_status(PLUMB_CALL* create)(const plumb_host* host, plumb_str source, plumb_str options_json, void** self,
                                   plumb_error* error);
  void(PLUMB_CALL* destroy)(void* self);

  /* Renders into out[0, capacity); *n_bytes is the whole size, also with MORE_SPACE.
   * MORE_SPACE also where only untrusted->capacity is too small.
   * Fails INVALID_ARGUMENT (the context is no JSON object, an undefined variable, a type error,
   * raise_exception: its message), CANCELLED (out of fuel). Errors give line and column. [any-thread] */
  plumb_status(PLUMB_CALL* render)(void* self, const plumb_render_request* request, char* out, uint64_t capacity,
                                   uint64_t* n_bytes, plumb_error* error);
} plumb_template_engine;

#ifdef __cplusplus
}
#endif
#endif
