/* The stage near_top and the table of plumb.sampler/1. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

typedef struct near_top {
  float margin;
} near_top;

static plumb_str text(const char* s) {
  return (plumb_str){s, strlen(s)};
}

static plumb_str PLUMB_CALL stage_at(uint32_t index) {
  return text(index == 0 ? "near_top" : "");
}

static plumb_str PLUMB_CALL parameters_schema_at(uint32_t index) {
  return text(
      index == 0
          ? "{\"type\": \"object\", \"required\": [\"margin\"], \"additionalProperties\": false, "
            "\"properties\": {\"margin\": {\"type\": \"number\", \"minimum\": 0}}}"
          : "");
}

/* The number of {"margin": NUMBER}; negative for any other text. */
static double margin_of(plumb_str json) {
  char copy[64];
  if (json.bytes >= sizeof copy) return -1;
  if (json.bytes != 0) memcpy(copy, json.data, json.bytes);
  copy[json.bytes] = 0;
  const char* expected[] = {"{", "\"margin\"", ":"};
  const char* at = copy;
  for (int i = 0; i < 3; ++i) {
    at += strspn(at, " ");
    if (strncmp(at, expected[i], strlen(expected[i])) != 0) return -1;
    at += strlen(expected[i]);
  }
  char* end;
  const double margin = strtod(at, &end);
  if (end == at) return -1;
  end += strspn(end, " ");
  return strcmp(end, "}") == 0 && isfinite(margin) ? margin : -1;
}

static plumb_status PLUMB_CALL create(const plumb_host* host, plumb_str stage,
                                      plumb_str params_json, uint32_t n_vocab, void** self,
                                      plumb_error* error) {
  (void)host, (void)n_vocab;
  if (self == NULL) return refuse(error, PLUMB_INVALID_ARGUMENT, "create: no place for the stage");
  if (stage.bytes != 8 || memcmp(stage.data, "near_top", 8) != 0)
    return refuse(error, PLUMB_NOT_FOUND, "the only stage here is near_top");
  const double margin = margin_of(params_json);
  if (margin < 0)
    return refuse(error, PLUMB_INVALID_CONFIG,
                  "near_top: expected {\"margin\": a number, 0 or more}");
  near_top* made = malloc(sizeof *made);
  if (made == NULL) return refuse(error, PLUMB_INTERNAL, "near_top: out of memory");
  made->margin = (float)margin;
  *self = made;
  return PLUMB_OK;
}

static void PLUMB_CALL destroy(void* self) {
  free(self);
}

static uint64_t PLUMB_CALL scratch_bytes(void* self) {
  (void)self;
  return 0;
}

static plumb_status PLUMB_CALL apply(void* self, const plumb_sample_context* context, void* scratch,
                                     plumb_candidates* candidates, plumb_error* error) {
  (void)context, (void)scratch;
  const near_top* stage = self;
  float largest = -INFINITY;
  for (uint32_t i = 0; i < candidates->n; ++i) {
    if (isnan(candidates->logits[i])) return refuse(error, PLUMB_NUMERIC, "a logit is no number");
    if (candidates->logits[i] > largest) largest = candidates->logits[i];
  }
  if (!isfinite(largest))
    return refuse(error, PLUMB_NUMERIC, "no logit is finite, or one is infinite");
  uint32_t n = 0;
  for (uint32_t i = 0; i < candidates->n; ++i) {
    if (candidates->logits[i] < largest - stage->margin) continue;
    candidates->ids[n] = candidates->ids[i];
    candidates->logits[n++] = candidates->logits[i];
  }
  candidates->n = n;
  return PLUMB_OK;
}

/* A stage with a state has the last three functions too. */
static const plumb_sampler table = {
    .struct_bytes = sizeof(plumb_sampler),
    .stage_at = stage_at,
    .parameters_schema_at = parameters_schema_at,
    .create = create,
    .destroy = destroy,
    .scratch_bytes = scratch_bytes,
    .apply = apply,
};

const char extension_id[] = PLUMB_EXT_SAMPLER;
const void* const extension_table = &table;
const int32_t plugin_rank = 0;
