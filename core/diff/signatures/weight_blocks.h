// weight_blocks.h: the blocks of a row of weights, changed one by one.
#pragma once

#include <cstring>

#include "core/diff/op_evaluator.h"
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

}  // namespace plumbline::diff
