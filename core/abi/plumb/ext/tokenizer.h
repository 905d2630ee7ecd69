/* ext/tokenizer.h: "plumb.tokenizer/1", UTF-8 bytes <-> token ids.
 *
 * A tokenizer never adds a beginning-of-sequence token, never strips, never assembles characters: BOS rules,
 * stop strings and UTF-8 assembly belong to the pipeline. */
#ifndef PLUMB_EXT_TOKENIZER_H
#define PLUMB_EXT_TOKENIZER_H

#include "plumb/metadata.h"
#include "plumb/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PLUMB_EXT_TOKENIZER "plumb.tokenizer/1"

/* Attributes of an id. */
#define PLUMB_TOKEN_CONTROL 1u       /* never text: <|im_end|>, <s> */
#define PLUMB_TOKEN_BYTE 2u          /* a byte-fallback token: <0x41> */
#define PLUMB_TOKEN_UNKNOWN 4u       /* the unknown token */
#define PLUMB_TOKEN_UNUSED 8u        /* a hole in the vocabulary */
#define PLUMB_TOKEN_USER_DEFINED 16u /* an added literal that is text */
#define PLUMB_TOKEN_END 32u          /* ends a generation (every variant that the file names) */

/* How literals of control tokens in a text are treated. */
#define PLUMB_SPECIAL_OFF 0   /* as plain text */
#define PLUMB_SPECIAL_PARSE 1 /* as their ids */

/* How decoded bytes that are no UTF-8 become text. */
#define PLUMB_ILL_FORMED_MAXIMAL_SUBPART 0 /* one U+FFFD for each maximal subpart (Unicode 15, section 3.9) */
#define PLUMB_ILL_FORMED_BYTE_RUN 1 /* a run of PLUMB_TOKEN_BYTE that is not well-formed as a whole: one a byte */

typedef struct plumb_tokenizer_info {
  uint32_t struct_bytes;
  uint32_t n_vocab;
  int32_t bos_id; /* -1: none */
  int32_t eos_id;
  int32_t unknown_id;
  int32_t padding_id;
  uint32_t add_bos; /* 1: the model expects bos_id before a prompt */
  uint32_t add_eos;
  /* What the file's own post-processor puts around one text, bos_id and eos_id included (BERT: [CLS] and [SEP]).
   * Null: add_bos and add_eos say it all. Borrowed until destroy. */
  const int32_t* prefix_ids;
  const int32_t* suffix_ids;
  uint32_t n_prefix;
  uint32_t n_suffix;
  uint32_t ill_formed; /* PLUMB_ILL_FORMED_*: how the file's own decoder reads bytes that are no UTF-8 */
  uint32_t reserved;
} plumb_tokenizer_info;

typedef struct plumb_encode_request {
  uint32_t struct_bytes;
  uint32_t special; /* PLUMB_SPECIAL_* */
  plumb_str text;   /* any bytes; ill-formed UTF-8 is encoded as the reference would its replacement */
  /* Injection safety: sorted, disjoint ranges of the text that strangers wrote, and the ids that they may not have.
   * No literal of a barred id is matched where it overlaps such a range, whatever `special` says, and nothing else
   * makes a barred id out of one; all other literals are matched as ever. barred_bits: bit i % 64 of word i / 64 is
   * id i, (n_vocab + 63) / 64 words; null: nothing is barred. */
  const plumb_span* untrusted;
  uint64_t n_untrusted;
  const uint64_t* barred_bits;
} plumb_encode_request;

typedef struct plumb_encode_result {
  uint32_t struct_bytes;
  uint32_t reserved;
  int32_t* ids;      /* caller's, capacity entries */
  plumb_span* spans; /* caller's, capacity entries; null: not wanted */
  uint64_t capacity;
  uint64_t n; /* written by the callee: how many ids there are, also with MORE_SPACE */
} plumb_encode_result;

typedef struct plumb_tokenizer {
  uint32_t struct_bytes;
  uint32_t reserved;

  /* Can this tokenizer serve such metadata? OK, or UNSUPPORTED with the reason. [any-thread] */
  plumb_status(PLUMB_CALL* recognise)(const plumb_metadata* metadata, plumb_error* error);
  /* metadata is borrowed until destroy. options_json: the plugin's options out of the config.
   * Fails CORRUPT (duplicate, missing or absurd vocabulary entries), UNSUPPORTED. [any-thread] */
  plumb_status(PLUMB_CALL* create)(const plumb_host* host, const plumb_metadata* metadata, plumb_str options_json,
                                   void** self, plumb_error* error);
  void(PLUMB_CALL* destroy)(void* self);

  plumb_status(PLUMB_CALL* info)(void* self, plumb_tokenizer_info* info, plumb_error* error);
  /* PLUMB_TOKEN_* of an id; 0 for plain text; UNUSED outside the vocabulary. [any-thread] */
  uint32_t(PLUMB_CALL* attributes)(void* self, int32_t id);

  /* MORE_SPACE with result->n set if capacity is too small (nothing else is then promised). For a text of n bytes
   * 3 n + 8 ids are enough (an ill-formed byte reads as U+FFFD, which can be three byte tokens) unless the file's
   * own rules make a text longer. CORRUPT if the vocabulary has no token for a text, nor an unknown token; UNSUPPORTED
   * if its regular expressions take too long on it. Linear time. [any-thread] */
  plumb_status(PLUMB_CALL* encode)(void* self, const plumb_encode_request* request, plumb_encode_result* result,
                                   plumb_error* error);

  /* The bytes that an id stands for, as part of a decoded text; is_first: it opens the text (some
   * vocabularies drop one leading space there). Control tokens give their literal. Borrowed until destroy.
   * INVALID_ARGUMENT for an id outside the vocabulary. [any-thread] */
  plumb_status(PLUMB_CALL* piece)(void* self, int32_t id, uint32_t is_first, plumb_bytes* bytes, plumb_error* error);
} plumb_tokenizer;

#ifdef __cplusplus
}
#endif
#endif
