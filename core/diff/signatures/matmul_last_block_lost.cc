// The last block of each row does not count: a loop that ends too early.
#include <algorithm>

#include "core/diff/signatures/signature.h"
#include "plumb/sdk/blocks.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  const WeightRows right = rows_of(*suspect.weight());
  const FormatInfo& info = *find_format(right.format);
  const uint64_t lost =
      std::min<uint64_t>(right.width, info.is_quantised ? info.block_values : uint64_t{PLUMB_QK});
  WeightRows cut = right;
  cut.read = [=](uint64_t row, float* out) {
    right.read(row, out);
    std::fill_n(out + right.width - lost, lost, 0.0f);
  };
  return {
      variant(suspect, "leaves out the last " + std::to_string(lost) + " values of each row", cut)};
}

}  // namespace

Signature matmul_last_block_lost() {
  return {"matmul_last_block_lost", {PLUMB_OP_MATMUL}, hypotheses};
}

}  // namespace plumbline::diff::signatures
