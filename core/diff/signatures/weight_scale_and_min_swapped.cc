// Scale and minimum of a block, two f16 side by side, are taken for each other.
#include <utility>

#include "core/diff/signatures/signature.h"
#include "core/diff/signatures/weight_blocks.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  const plumb_tensor& tensor = *suspect.weight();
  std::vector<Hypothesis> found;
  visit_block_type(tensor.format, [&]<typename Block>(std::type_identity<Block>) {
    if constexpr (
        requires(Block b) { b.m; } || requires(Block b) { b.dmin; }) {
      found.push_back(variant(suspect, "takes a block's scale and minimum for each other",
                              rows_of(tensor, each_block<Block>([](Block& block) {
                                        if constexpr (requires { block.m; })
                                          std::swap(block.d, block.m);
                                        if constexpr (requires { block.dmin; })
                                          std::swap(block.d, block.dmin);
                                      }))));
    }
  });
  return found;
}

}  // namespace

Signature weight_scale_and_min_swapped() {
  return {"weight_scale_and_min_swapped", {PLUMB_OP_EMBED, PLUMB_OP_MATMUL}, hypotheses};
}

}  // namespace plumbline::diff::signatures
