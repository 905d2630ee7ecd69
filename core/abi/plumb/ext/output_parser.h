/* ext/output_parser.h: "plumb.output_parser/1", streamed text -> reasoning, content and tool calls. */
#ifndef PLUMB_EXT_OUTPUT_PARSER_H
#define PLUMB_EXT_OUTPUT_PARSER_H

#include "plumb/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PLUMB_EXT_OUTPUT_PARSER "plumb.output_parser/1"

#define PLUMB_EVENT_NONE 0      /* nothing more until the next feed */
#define PLUMB_EVENT_CONTENT 1   /* text for the user */
#define PLUMB_EVENT_REASONING 2 /* text of a thinking block, without its tags */
#define PLUMB_EVENT_TOOL_CALL 3 /* one whole call: {"name", "arguments"} as JSON */

typedef struct plumb_event {
  uint32_t struct_bytes;
  uint32_t kind;  /* PLUMB_EVENT_* */
  plumb_str text; /* borrowed until the next call on this instance */
} plumb_event;

typedef struct plumb_output_parser {
  uint32_t struct_bytes;
  uint32_t reserved;
  plumb_status(PLUMB_CALL* create)(const plumb_host* host, plumb_str options_json, void** self, plumb_error* error);
  void(PLUMB_CALL* destroy)(void* self);
  /* Takes a piece of well-formed UTF-8. is_last: nothing follows; what was held back comes out.
   * [one-at-a-time] */
  plumb_status(PLUMB_CALL* feed)(void* self, plumb_str text, uint32_t is_last, plumb_error* error);
  /* The next event, in order; PLUMB_EVENT_NONE if there is none. [one-at-a-time] */
  plumb_status(PLUMB_CALL* next)(void* self, plumb_event* event, plumb_error* error);

  /* Literals that the parser looks for, as "<think>"; an empty view past the end. What the host cannot see as text, since
   * it is a control token, it hands over as its literal all the same. Null: there are none. [any-thread] */
  plumb_str(PLUMB_CALL* marker_at)(void* self, uint32_t index);
  /* A new answer, behind this prompt: a block that the prompt's end has opened is open. Events that were not taken are
   * gone. Null: one instance parses one answer. [one-at-a-time] */
  plumb_status(PLUMB_CALL* begin)(void* self, plumb_str prompt, plumb_error* error);
} plumb_output_parser;

#ifdef __cplusplus
}
#endif
#endif
