// Low and high nibbles are taken for each other.
#include "core/diff/signatures/weight_blocks.h"

namespace plumbline::diff::signatures {
namespace {

template <typename Block>
concept HasNibbles = requires(Block b) {
  b.qs;
  requires sizeof(b.qs) * 2 == kValues<Block>;
};

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  return block_variants(suspect, "takes low and high nibbles for each other",
                        [](HasNibbles auto& block) {
                          for (auto& byte : block.qs)
                            byte = static_cast<uint8_t>(byte << 4 | byte >> 4);
                        });
}

}  // namespace

Signature weight_nibble_order() {
  return {"weight_nibble_order", {PLUMB_OP_EMBED, PLUMB_OP_MATMUL}, hypotheses};
}

}  // namespace plumbline::diff::signatures
