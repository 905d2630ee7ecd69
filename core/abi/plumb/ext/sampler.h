/* ext/sampler.h: "plumb.sampler/1", stages that turn one row of logits into one token id.
 *
 * A library offers any number of stages; the config lists them in order. A stage narrows or reweighs the
 * candidates; a draw stage sets picked. A stage sees data only, never a tokenizer or a clock: the same inputs and
 * the same state give the same output. Coins are Philox4x32-10 of (seed, step) or (seed, step, id), see
 * sdk/philox.h. Source of the stages: core/doc/samplers.md. */
#ifndef PLUMB_EXT_SAMPLER_H
#define PLUMB_EXT_SAMPLER_H

#include "plumb/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PLUMB_EXT_SAMPLER "plumb.sampler/1"

#define PLUMB_ORDER_ID 0    /* candidates ascend by id */
#define PLUMB_ORDER_LOGIT 1 /* candidates descend by logit, ties by ascending id */

/* The candidates that are left. Host-owned arrays of n_capacity = V entries; a stage may shrink n, reorder, and
 * change logits. ids are unique. */
typedef struct plumb_candidates {
  uint32_t struct_bytes;
  uint32_t order;     /* PLUMB_ORDER_* : how they lie now */
  int32_t* ids;       /* i32[n] */
  float* logits;      /* f32[n] */
  uint32_t n;         /* >= 1 */
  int32_t picked;     /* -1 until a draw stage sets it */
  double coin;        /* written by the draw stage: the uniform it used, for traces; NaN if none */
  double probability; /* written by the draw stage: of the pick, among the candidates left; NaN if none */
  uint32_t n_capped;  /* how many candidates a cap on their number has cut away */
  int32_t cap_edge;   /* id of the last that such a cap kept; -1 if none has cut */
} plumb_candidates;

typedef struct plumb_sample_context {
  uint32_t struct_bytes;
  uint32_t n_vocab;
  uint64_t seed;
  uint64_t step; /* index of the token that is drawn, from 0 */
  const int32_t* prompt_ids;
  uint64_t n_prompt_ids;
  const int32_t* generated_ids;
  uint64_t n_generated_ids;
  const uint64_t* control_bits; /* bit id: a control token, or ends an answer; ceil(V/64) words */
  const int32_t* breaker_ids;   /* ids that end a repeated run (DRY) */
  uint64_t n_breaker_ids;
  const uint64_t* allowed_bits; /* null: every id; else bit id: a grammar allows it next; ceil(V/64) words */
} plumb_sample_context;

typedef struct plumb_sampler {
  uint32_t struct_bytes;
  uint32_t reserved;

  /* Name of the i-th stage that the library offers ("top_p"); an empty view past the end. [any-thread] */
  plumb_str(PLUMB_CALL* stage_at)(uint32_t index);
  /* JSON Schema of the parameters of the i-th stage. [any-thread] */
  plumb_str(PLUMB_CALL* parameters_schema_at)(uint32_t index);

  /* params_json: {"p": 0.9}. Unknown keys and values out of range are INVALID_CONFIG. [any-thread] */
  plumb_status(PLUMB_CALL* create)(const plumb_host* host, plumb_str stage, plumb_str params_json, uint32_t n_vocab,
                                   void** self, plumb_error* error);
  void(PLUMB_CALL* destroy)(void* self);

  /* Host-owned scratch that apply needs, 64-byte aligned. [any-thread] */
  uint64_t(PLUMB_CALL* scratch_bytes)(void* self);
  /* Allocates nothing. A draw stage that finds picked >= 0 leaves it. NUMERIC if the logits leave no distribution (all
   * -inf, +inf or a NaN); CANCELLED if the stage ends the generation (a script that is over); NOT_FOUND if
   * allowed_bits leave no candidate with mass (a grammar's dead end). [one-at-a-time] */
  plumb_status(PLUMB_CALL* apply)(void* self, const plumb_sample_context* context, void* scratch,
                                  plumb_candidates* candidates, plumb_error* error);

  /* State of stages that have one (mirostat's mu); all three null in a library without any. state_bytes is constant,
   * 0 of a stage without a state. A stage begins afresh at step 0. INVALID_ARGUMENT: no state of such a stage. */
  uint64_t(PLUMB_CALL* state_bytes)(void* self);
  plumb_status(PLUMB_CALL* state_get)(void* self, void* to, plumb_error* error);
  plumb_status(PLUMB_CALL* state_set)(void* self, const void* from, plumb_error* error);
} plumb_sampler;

#ifdef __cplusplus
}
#endif
#endif
