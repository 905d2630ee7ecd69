// The zero point is off by one: q - 8 becomes q - 7, q - 16 becomes q - 15.
#include <cstring>

#include "core/diff/signatures/signature.h"
#include "plumb/sdk/blocks.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  const plumb_tensor& tensor = *suspect.weight();
  if (tensor.format != PLUMB_Q4_0 && tensor.format != PLUMB_Q5_0) return {};
  const WeightRows right = rows_of(tensor);
  const FormatInfo& info = *find_format(tensor.format);
  WeightRows moved = right;
  moved.read = [=](uint64_t row, float* out) {
    right.read(row, out);
    const uint64_t n_blocks = right.width / info.block_values;
    for (uint64_t b = 0; b < n_blocks; ++b) {
      uint16_t scale;  // the first of a block of either format
      std::memcpy(&scale, tensor.data.data + (row * n_blocks + b) * info.block_bytes, sizeof scale);
      for (uint64_t i = 0; i < info.block_values; ++i)
        out[b * info.block_values + i] += f16_to_f32(scale);
    }
  };
  return {variant(suspect, "takes codes for one too large: the zero point is off", moved)};
}

}  // namespace

Signature weight_sign_bit() {
  return {"weight_sign_bit", {PLUMB_OP_EMBED, PLUMB_OP_MATMUL}, hypotheses};
}

}  // namespace plumbline::diff::signatures
