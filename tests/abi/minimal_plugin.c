/* A whole plugin in C11: a sampler library whose one stage, `lowest_id`, picks the smallest id. */
#include <math.h>
#include <plumb/plumb.h>
#include <string.h>

static plumb_status refuse(plumb_error* error, plumb_status code, const char* text) {
  if (error && error->message) {
    size_t n = strlen(text);
    if (n > error->capacity_bytes) n = error->capacity_bytes;
    memcpy(error->message, text, n);
    error->message_bytes = (uint32_t)n;
  }
  return code;
}

static int equal(plumb_str a, const char* b) {
  return a.bytes == strlen(b) && memcmp(a.data, b, a.bytes) == 0;
}

static plumb_str text(const char* s) {
  return (plumb_str){s, strlen(s)};
}

static plumb_str PLUMB_CALL stage_at(uint32_t index) {
  return text(index == 0 ? "lowest_id" : "");
}
static plumb_str PLUMB_CALL schema_at(uint32_t index) {
  return text(index == 0 ? "{}" : "");
}

static plumb_status PLUMB_CALL create(const plumb_host* host, plumb_str stage,
                                      plumb_str params_json, uint32_t n_vocab, void** self,
                                      plumb_error* error) {
  (void)host, (void)params_json, (void)n_vocab;
  if (!equal(stage, "lowest_id")) return refuse(error, PLUMB_NOT_FOUND, "expected lowest_id");
  *self = NULL; /* no state, so no instance */
  return PLUMB_OK;
}

static void PLUMB_CALL destroy(void* self) {
  (void)self;
}
static uint64_t PLUMB_CALL scratch_bytes(void* self) {
  return (void)self, 0;
}

static plumb_status PLUMB_CALL apply(void* self, const plumb_sample_context* context, void* scratch,
                                     plumb_candidates* candidates, plumb_error* error) {
  (void)self, (void)context, (void)scratch;
  if (candidates->n == 0) return refuse(error, PLUMB_INVALID_ARGUMENT, "no candidates");
  candidates->picked = candidates->ids[0];
  for (uint32_t i = 1; i < candidates->n; ++i) {
    if (candidates->ids[i] < candidates->picked) candidates->picked = candidates->ids[i];
  }
  candidates->coin = candidates->probability = NAN;
  return PLUMB_OK;
}

static const plumb_sampler sampler = {.struct_bytes = sizeof(plumb_sampler),
                                      .stage_at = stage_at,
                                      .parameters_schema_at = schema_at,
                                      .create = create,
                                      .destroy = destroy,
                                      .scratch_bytes = scratch_bytes,
                                      .apply = apply};

static plumb_status PLUMB_CALL probe(plumb_error* error) {
  return (void)error, PLUMB_OK;
}
static int32_t PLUMB_CALL rank(void) {
  return 0;
}
static const void* PLUMB_CALL extension(plumb_str id) {
  return equal(id, PLUMB_EXT_SAMPLER) ? &sampler : NULL;
}

#define TEXT(s) \
  { s, sizeof(s) - 1 }
static const plumb_plugin plugin = {sizeof(plumb_plugin),
                                    0,
                                    TEXT("acme.lowest"),
                                    TEXT("1.0.0"),
                                    TEXT("Acme"),
                                    TEXT("Apache-2.0"),
                                    TEXT("Picks the lowest id"),
                                    TEXT(""),
                                    probe,
                                    rank,
                                    extension};

PLUMB_EXPORT plumb_status PLUMB_CALL plumb_plugin_entry(const plumb_offer* offer,
                                                        plumb_answer* answer, plumb_error* error) {
  answer->version_oldest = answer->version_newest = PLUMB_ABI_VERSION;
  if (offer->version_oldest > PLUMB_ABI_VERSION || offer->version_newest < PLUMB_ABI_VERSION)
    return refuse(error, PLUMB_INCOMPATIBLE, "plugin speaks ABI 1 to 1: rebuild it for this host");
  answer->version = PLUMB_ABI_VERSION;
  answer->plugin = &plugin;
  return PLUMB_OK;
}
