// The bits that lie apart from the nibbles are taken for 0.
#include <algorithm>
#include <iterator>

#include "core/diff/signatures/weight_blocks.h"

namespace plumbline::diff::signatures {
namespace {

template <typename Block>
concept HasHighBits = requires(Block b) { b.qh; };

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  return block_variants(suspect, "loses the bits above the nibbles", [](HasHighBits auto& block) {
    std::fill(std::begin(block.qh), std::end(block.qh), uint8_t{0});
  });
}

}  // namespace

Signature weight_high_bits_lost() {
  return {"weight_high_bits_lost", {PLUMB_OP_EMBED, PLUMB_OP_MATMUL}, hypotheses};
}

}  // namespace plumbline::diff::signatures
