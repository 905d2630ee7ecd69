// Neighbouring blocks of a row have each other's scale.
#include <algorithm>
#include <cstddef>

#include "core/diff/signatures/signature.h"
#include "plumb/sdk/blocks.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  const plumb_tensor& tensor = *suspect.weight();
  std::vector<Hypothesis> found;
  visit_block_type(tensor.format, [&]<typename Block>(std::type_identity<Block>) {
    if constexpr (requires(Block b) { b.d; }) {
      const auto swap_scales = [](uint8_t* blocks, uint64_t n_blocks) {
        for (uint64_t b = 0; b + 1 < n_blocks; b += 2) {
          uint8_t* first = blocks + b * sizeof(Block) + offsetof(Block, d);
          std::swap_ranges(first, first + sizeof(Block::d), first + sizeof(Block));
        }
      };
      found.push_back(variant(suspect, "gives neighbouring blocks each other's scale",
                              rows_of(tensor, swap_scales)));
    }
  });
  return found;
}

}  // namespace

Signature weight_block_pairing() {
  return {"weight_block_pairing", {PLUMB_OP_EMBED, PLUMB_OP_MATMUL}, hypotheses};
}

}  // namespace plumbline::diff::signatures
