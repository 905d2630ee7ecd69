// all.cc: the list of causes. A new one: its file, and its name here.
#include <cstdio>
#include <cstdlib>

#include "core/diff/signatures/signature.h"

#define PLUMB_SIGNATURES(X)       \
  X(rope_pairing)                 \
  X(rope_base)                    \
  X(rope_linear_scaling)          \
  X(rope_position_restart)        \
  X(rope_position_offset)         \
  X(rope_sign)                    \
  X(rope_partial)                 \
  X(norm_epsilon)                 \
  X(norm_epsilon_outside_root)    \
  X(norm_mean_subtracted)         \
  X(norm_weight_plus_one)         \
  X(norm_weight_missing)          \
  X(norm_whole_row)               \
  X(norm_missing)                 \
  X(norm_placement)               \
  X(logits_row_off_by_one)        \
  X(gqa_head_mapping)             \
  X(mask_off_by_one_strict)       \
  X(mask_off_by_one_future)       \
  X(window_missing)               \
  X(window_off_by_one)            \
  X(attention_scale_missing)      \
  X(attention_scale_wrong)        \
  X(attention_softcap_missing)    \
  X(kv_row_overwritten)           \
  X(kv_stale_row)                 \
  X(kv_swapped)                   \
  X(embedding_scale_missing)      \
  X(embedding_row_off_by_one)     \
  X(activation_wrong)             \
  X(activation_half_precision)    \
  X(gate_and_up_swapped)          \
  X(residual_missing)             \
  X(branch_missing)               \
  X(softcap_missing)              \
  X(head_wrong)                   \
  X(bias_missing)                 \
  X(weight_of_another_layer)      \
  X(weight_transposed)            \
  X(weight_scale_and_min_swapped) \
  X(weight_nibble_order)          \
  X(weight_block_pairing)         \
  X(weight_sign_bit)              \
  X(weight_high_bits_lost)        \
  X(matmul_last_block_lost)       \
  X(matmul_saturating_product)    \
  X(matmul_f16_overflow)          \
  X(half_precision_output)        \
  X(activation_scale_shared)

namespace plumbline::diff {

namespace signatures {
#define PLUMB_DECLARE(name) Signature name();
PLUMB_SIGNATURES(PLUMB_DECLARE)
#undef PLUMB_DECLARE
}  // namespace signatures

const std::vector<Signature>& all_signatures() {
#define PLUMB_MAKE(name) signatures::name(),
  static const std::vector<Signature> all = {PLUMB_SIGNATURES(PLUMB_MAKE)};
#undef PLUMB_MAKE
  return all;
}

std::string text_of(double number) {
  char text[32];
  for (int digits = 1; digits <= 9; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, number);
    if (std::strtof(text, nullptr) == static_cast<float>(number)) break;
  }
  return text;
}

}  // namespace plumbline::diff
