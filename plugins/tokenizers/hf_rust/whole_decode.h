/* whole_decode.h: this plugin's own extension. Its library decodes lists of ids into text, where
 * plumb.tokenizer/1 asks for the bytes of one id; tests compare the two. */
#ifndef PLUMB_HF_RUST_WHOLE_DECODE_H
#define PLUMB_HF_RUST_WHOLE_DECODE_H

#include "plumb/plugin.h"

#define PLUMB_EXT_HF_RUST_WHOLE_DECODE "plumb.tokenizers.hf_rust.whole_decode/1"

typedef struct plumb_hf_rust_whole_decode {
  uint32_t struct_bytes;
  uint32_t reserved;
  /* self: of this plugin's plumb_tokenizer. Special tokens give their literal; an id outside the
   * vocabulary gives nothing. *n_bytes is the whole size, also with MORE_SPACE. [any-thread] */
  plumb_status(PLUMB_CALL* decode)(void* self, const int32_t* ids, uint64_t n, char* out,
                                   uint64_t capacity, uint64_t* n_bytes, plumb_error* error);
} plumb_hf_rust_whole_decode;

#endif
