// all.cc: the list of causes. A new one: its file, and its name here.
#include <cstdio>
#include <cstdlib>

#include "core/diff/signatures/signature.h"

#define PLUMB_SIGNATURES(X)    \
  X(rope_pairing)              \
  X(norm_epsilon)              \
  X(norm_epsilon_outside_root) \
  X(norm_mean_subtracted)      \
  X(norm_weight_plus_one)      \
  X(norm_weight_missing)       \
  X(norm_whole_row)            \
  X(gqa_head_mapping)          \
  X(mask_off_by_one_strict)    \
  X(mask_off_by_one_future)    \
  X(window_off_by_one)         \
  X(window_missing)            \
  X(attention_scale_missing)   \
  X(attention_softcap_missing)

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
