// The bits that lie apart from the nibbles are taken for 0.
#include <utility>

#include "core/diff/signatures/signature.h"
#include "core/diff/signatures/weight_blocks.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  const plumb_tensor& tensor = *suspect.weight();
  std::vector<Hypothesis> found;
  visit_block_type(tensor.format, [&]<typename Block>(std::type_identity<Block>) {
    if constexpr (requires(Block b) { b.qh; }) {
      found.push_back(variant(suspect, "loses the bits above the nibbles",
                              rows_of(tensor, each_block<Block>([](Block& block) {
                                        std::fill(std::begin(block.qh), std::end(block.qh),
                                                  uint8_t{0});
                                      }))));
    }
  });
  return found;
}

}  // namespace

Signature weight_high_bits_lost() {
  return {"weight_high_bits_lost", {PLUMB_OP_EMBED, PLUMB_OP_MATMUL}, hypotheses};
}

}  // namespace plumbline::diff::signatures
