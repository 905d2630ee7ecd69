// weight_blocks.h: the blocks of a row of weights, changed one by one.
#pragma once

#include <concepts>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "core/diff/op_evaluator.h"
#include "core/diff/signatures/signature.h"
#include "plumb/sdk/blocks.h"

namespace plumbline::diff {

template <typename Block>
inline constexpr uint32_t kValues = find_format(format_of<Block>())->block_values;

/// change(Block&) for each block of a row.
template <typename Block, typename Change>
ChangeBlocks each_block(Change change) {
  return [change](uint8_t* blocks, uint64_t n_blocks) {
    for (uint64_t b = 0; b < n_blocks; ++b) {
      Block block;
      std::memcpy(&block, blocks + b * sizeof block, sizeof block);
      change(block);
      std::memcpy(blocks + b * sizeof block, &block, sizeof block);
    }
  };
}

/// The suspect's weight read with each block changed; none where its format has no blocks that
/// `change` takes.
template <typename Change>
std::vector<Hypothesis> block_variants(const Suspect& suspect, const std::string& does,
                                       Change change) {
  std::vector<Hypothesis> found;
  const plumb_tensor& tensor = *suspect.weight();
  visit_block_type(tensor.format, [&]<typename Block>(std::type_identity<Block>) {
    if constexpr (std::invocable<Change, Block&>)
      found.push_back(variant(suspect, does, rows_of(tensor, each_block<Block>(change))));
  });
  return found;
}

}  // namespace plumbline::diff
