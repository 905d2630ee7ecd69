// hyper_parameters.h: the numbers that shape a decoder, as a loader states them
// (plumb/ext/loader.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plumb/ext/kernels.h"
#include "plumb/sdk/result.h"

namespace plumbline::model {

/// How position angles are made. Sources: Su et al. 2021 (RoPE); Chen et al. 2023 (linear);
/// Llama 3.1 (llama3); Peng et al. 2023 (YaRN).
struct Rope {
  enum class Scaling { none, linear, factors, llama3, yarn };

  uint32_t pairing = PLUMB_ROPE_HALF;
  uint32_t n_rotated = 0;
  double base = 10000.0;
  Scaling scaling = Scaling::none;
  double factor = 1.0;
  uint32_t original_context = 0;
  double low_freq_factor = 1.0;
  double high_freq_factor = 4.0;
  double beta_fast = 32.0;
  double beta_slow = 1.0;
  double attention_factor = 1.0;  // multiplies cosine and sine
};

struct HyperParameters {
  std::string architecture;
  std::string name;
  uint32_t n_layers = 0;
  uint32_t d_model = 0;  // D
  uint32_t n_heads = 0;  // H
  uint32_t n_heads_kv = 0;  // K
  uint32_t head_width = 0;  // C
  uint32_t d_ff = 0;  // F
  uint32_t n_vocab = 0;  // V
  uint32_t n_context_train = 0;
  float norm_epsilon = 0;
  uint32_t activation = PLUMB_ACT_SILU;
  bool qk_norm = false;
  bool qkv_bias = false;
  bool tied_head = false;
  float embedding_scale = 1;
  float attention_scale = 0;
  float attention_softcap = 0;
  float logit_softcap = 0;
  uint32_t sliding_window = 0;
  std::vector<bool> sliding_layers;  // n_layers entries
  Rope rope;
  Rope rope_local;  // of the sliding layers

  /// Fails CORRUPT: a key is missing, has the wrong type or is out of range; the message names it.
  static Result<HyperParameters> parse(std::string_view json);
};

}  // namespace plumbline::model
