// Low and high nibbles are taken for each other.
#include <utility>

#include "core/diff/signatures/signature.h"
#include "core/diff/signatures/weight_blocks.h"

namespace plumbline::diff::signatures {
namespace {

std::vector<Hypothesis> hypotheses(const Suspect& suspect) {
  const plumb_tensor& tensor = *suspect.weight();
  std::vector<Hypothesis> found;
  visit_block_type(tensor.format, [&]<typename Block>(std::type_identity<Block>) {
    if constexpr (requires(Block b) {
                    b.qs;
                    requires sizeof(b.qs) * 2 == kValues<Block>;
                  }) {
      found.push_back(variant(suspect, "takes low and high nibbles for each other",
                              rows_of(tensor, each_block<Block>([](Block& block) {
                                        for (auto& byte : block.qs)
                                          byte = static_cast<uint8_t>(byte << 4 | byte >> 4);
                                      }))));
    }
  });
  return found;
}

}  // namespace

Signature weight_nibble_order() {
  return {"weight_nibble_order", {PLUMB_OP_EMBED, PLUMB_OP_MATMUL}, hypotheses};
}

}  // namespace plumbline::diff::signatures
