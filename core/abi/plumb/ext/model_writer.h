/* ext/model_writer.h: "plumb.model_writer/1", an opened model's file with its tensors in other formats.
 *
 * Offered by a loader's own plugin, for the models that its plumb_loader has opened. The plugin says what stands
 * around the tensors and where each of them goes; the host makes their bytes and writes the file. */
#ifndef PLUMB_EXT_MODEL_WRITER_H
#define PLUMB_EXT_MODEL_WRITER_H

#include "plumb/formats.h"
#include "plumb/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PLUMB_EXT_MODEL_WRITER "plumb.model_writer/1"

/* A file: the head, then each tensor's bytes at its offset, row-major as tensor_at gives them. What lies between and
 * behind is zeros. The caller provides formats, offsets and head. */
typedef struct plumb_file_layout {
  uint32_t struct_bytes;
  plumb_format main_format;    /* in: what the file says of itself: the format of most of its weights */
  uint64_t n_tensors;          /* in: length of formats and offsets */
  const plumb_format* formats; /* in: of each tensor, in the order of tensor_at */
  uint64_t* offsets;           /* out: where each tensor's bytes begin, ascending */
  uint8_t* head;               /* out */
  uint64_t head_capacity_bytes;
  uint64_t head_bytes; /* out */
  uint64_t file_bytes; /* out */
} plumb_file_layout;

typedef struct plumb_model_writer {
  uint32_t struct_bytes;
  uint32_t reserved;

  /* model: from this plugin's plumb_loader.open. Metadata and the order of tensors stay as they are, but for what
   * speaks of formats. Fails MORE_SPACE (head_bytes says what it takes), INVALID_ARGUMENT (n_tensors is not the
   * model's; a row that is no whole number of blocks), UNSUPPORTED (a format that such a file cannot hold), CORRUPT
   * (metadata that speaks of formats and has the wrong type). [any-thread] */
  plumb_status(PLUMB_CALL* layout)(void* model, plumb_file_layout* layout, plumb_error* error);
} plumb_model_writer;

#ifdef __cplusplus
}
#endif
#endif
