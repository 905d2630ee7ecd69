// Scale and minimum of a block, two f16 side by side, are taken for each other.
#include <utility>

#include "core/diff/signatures/weight_blocks.h"

namespace plumbline::diff::signatures {
namespace {

template <typename Block>
concept HasMinimum = requires(Block b) { b.m; } || requires(Block b) { b.dmin; };

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  return block_variants(suspect, "takes a block's scale and minimum for each other",
                        [](HasMinimum auto& block) {
                          if constexpr (requires { block.m; }) std::swap(block.d, block.m);
                          if constexpr (requires { block.dmin; }) std::swap(block.d, block.dmin);
                        });
}

}  // namespace

Signature weight_scale_and_min_swapped() {
  return {"weight_scale_and_min_swapped", {PLUMB_OP_EMBED, PLUMB_OP_MATMUL}, hypotheses};
}

}  // namespace plumbline::diff::signatures
