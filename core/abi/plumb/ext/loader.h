/* ext/loader.h: "plumb.loader/1", a model file -> hyper-parameters, tensors, metadata.
 *
 * Conventions are translated here, once: from this door on, shapes are row-major, the pairing of RoPE and the
 * kind of norm are stated, and norm weights are what the kernels multiply with. */
#ifndef PLUMB_EXT_LOADER_H
#define PLUMB_EXT_LOADER_H

#include "plumb/formats.h"
#include "plumb/metadata.h"
#include "plumb/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PLUMB_EXT_LOADER "plumb.loader/1"

/* Hyper-parameters travel as one JSON object, read once. Keys (required unless a default is given):
 *
 *   architecture        "llama" | "qwen2" | "qwen3" | "gemma2" | "gemma3" | ...: the name in the file
 *   name                "" if the file has none
 *   n_layers, d_model, n_heads, n_heads_kv, head_width, d_ff, n_vocab, n_context_train   integers > 0
 *   norm_epsilon        number > 0
 *   activation          "silu" | "gelu_tanh" | "gelu_erf"
 *   qk_norm, qkv_bias, tied_head                     booleans
 *   embedding_scale     1.0
 *   attention_scale     1 / sqrt(head_width) unless the architecture says otherwise
 *   attention_softcap, logit_softcap                 0 = none
 *   sliding_window      0 = none
 *   sliding_layers      array of n_layers booleans; absent: none
 *   rope                {"pairing": "half" | "interleaved", "n_rotated", "base",
 *                        "scaling": {"kind": ...}}
 *   rope_local          as rope, for the sliding layers; absent: the same as rope
 *
 * Kinds of RoPE scaling, with the keys that each has beside "kind"
 *   "none"
 *   "linear"    factor: positions are divided by it
 *   "factors"   the tensor rope_freqs.weight, f32[n_rotated / 2]: inverse frequency i is divided by its element i
 *               (how GGUF carries the scaling of Llama 3.1 and later; that file holds no parameters of it)
 *   "llama3"    factor, original_context, low_freq_factor, high_freq_factor
 *   "yarn"      factor, original_context, beta_fast, beta_slow, attention_factor: cos and sin are multiplied by it
 *
 * Tensor names are GGUF's: token_embd.weight, output.weight, output_norm.weight, rope_freqs.weight and
 * blk.{L}.{attn_norm, attn_q, attn_k, attn_v, attn_output, attn_q_norm, attn_k_norm, ffn_norm, ffn_gate, ffn_up,
 * ffn_down, post_attention_norm, post_ffw_norm}.{weight,bias}. */
typedef struct plumb_loader {
  uint32_t struct_bytes;
  uint32_t reserved;

  /* Does this look like a file of mine? head: the first bytes of the file (up to 4 KiB). OK, or UNSUPPORTED
   * with what was seen. [any-thread] */
  plumb_status(PLUMB_CALL* recognise)(plumb_str path, plumb_bytes head, plumb_error* error);

  /* Opens and checks the whole structure: every count, offset and size, before anything is used.
   * Fails NOT_FOUND, CORRUPT (byte offset, seen, expected), UNSUPPORTED (a format or version). [any-thread] */
  plumb_status(PLUMB_CALL* open)(const plumb_host* host, plumb_str path, void** model, plumb_error* error);
  void(PLUMB_CALL* close)(void* model);

  /* The hyper-parameters as above. CORRUPT if a needed key is missing or out of range; UNSUPPORTED for an
   * architecture that this loader cannot translate. Borrowed until close. [any-thread] */
  plumb_status(PLUMB_CALL* hyper_parameters)(void* model, plumb_str* json, plumb_error* error);
  /* Borrowed until close. [any-thread] */
  const plumb_metadata*(PLUMB_CALL* metadata)(void* model);
  uint64_t(PLUMB_CALL* n_tensors)(void* model);
  /* INVALID_ARGUMENT if index >= n_tensors. [any-thread] */
  plumb_status(PLUMB_CALL* tensor_at)(void* model, uint64_t index, plumb_tensor* tensor, plumb_error* error);
  /* A hint: the pages of this tensor will not be read again. [any-thread] */
  void(PLUMB_CALL* done_with)(void* model, uint64_t index);
  /* Optional: the same hint for bytes [offset, offset + bytes) of the tensor's data. [any-thread] */
  void(PLUMB_CALL* done_with_bytes)(void* model, uint64_t index, uint64_t offset, uint64_t bytes);
} plumb_loader;

#ifdef __cplusplus
}
#endif
#endif
