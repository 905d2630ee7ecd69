// weight_faults.cc: weights whose blocks are read wrongly. The inner backend gets other blocks that
// mean, read rightly, what the broken reading would make of the file's.
#include <algorithm>
#include <cstring>
#include <utility>

#include "fault.h"
#include "plumb/sdk/blocks.h"

namespace plumbline::fault {
namespace {

constexpr Set kUsers = {PLUMB_OP_MATMUL, PLUMB_OP_EMBED};

/// Calls change(block) for every block of the copy that is a Block with what it asks for.
template <typename Change>
void for_each_block(MatrixCopy& matrix, Change&& change) {
  visit_block_type(matrix.format, [&]<typename Block>(std::type_identity<Block>) {
    if constexpr (requires(Block& block) { change(block); }) {
      for (size_t at = 0; at + sizeof(Block) <= matrix.blocks.size(); at += sizeof(Block)) {
        Block block;
        std::memcpy(&block, matrix.blocks.data() + at, sizeof block);
        change(block);
        std::memcpy(matrix.blocks.data() + at, &block, sizeof block);
      }
    }
  });
}

template <typename Block>
concept WithMinimum = requires(Block& block) { block.m; };
template <typename Block>
concept WithSuperMinimum = requires(Block& block) { block.dmin; };
template <typename Block>
concept WithHighBits = requires(Block& block) { block.qh; };
template <typename Block>
concept WithScale = requires(Block& block) { block.d; };

struct SwapScaleAndMinimum {
  void operator()(WithMinimum auto& block) const { std::swap(block.d, block.m); }
  void operator()(WithSuperMinimum auto& block) const { std::swap(block.d, block.dmin); }
};
void swap_scale_and_minimum(MatrixCopy& matrix) {
  for_each_block(matrix, SwapScaleAndMinimum{});
}

void swap_nibbles(MatrixCopy& matrix) {
  for_each_block(
      matrix, [](auto& block) requires requires { block.qs; } {
        for (auto& byte : block.qs) byte = static_cast<uint8_t>(byte << 4 | byte >> 4);
      });
}

void lose_high_bits(MatrixCopy& matrix) {
  for_each_block(matrix, [](WithHighBits auto& block) {
    std::fill(std::begin(block.qh), std::end(block.qh), uint8_t{0});
  });
}

// Blocks 0 and 1 of a row, 2 and 3, and so on; the last of an odd number stays.
void pair_scales(MatrixCopy& matrix) {
  visit_block_type(matrix.format, [&]<typename Block>(std::type_identity<Block>) {
    if constexpr (WithScale<Block>) {
      const uint64_t row_blocks = matrix.n_columns / find_format(matrix.format)->block_values;
      uint8_t* first_scale = matrix.blocks.data() + offsetof(Block, d);
      for (uint64_t row = 0; row < matrix.n_rows; ++row) {
        for (uint64_t b = 0; b + 1 < row_blocks; b += 2) {
          uint8_t* scale = first_scale + (row * row_blocks + b) * sizeof(Block);
          std::swap_ranges(scale, scale + sizeof(Block::d), scale + sizeof(Block));
        }
      }
    }
  });
}

plumb_block_q5_0 with_other_zero(const plumb_block_q4_0& block) {
  plumb_block_q5_0 out{block.d, {}, {}};
  for (int i = 0; i < 32; ++i) {
    const int code = (i < 16 ? block.qs[i] & 15 : block.qs[i - 16] >> 4) - 7 + 16;
    out.qs[i % 16] = static_cast<uint8_t>(out.qs[i % 16] | (code & 15) << (i < 16 ? 0 : 4));
    out.qh[i / 8] = static_cast<uint8_t>(out.qh[i / 8] | (code >> 4) << (i % 8));
  }
  return out;
}

plumb_block_q8_0 with_other_zero(const plumb_block_q5_0& block) {
  plumb_block_q8_0 out{block.d, {}};
  for (int i = 0; i < 32; ++i) out.qs[i] = static_cast<int8_t>(detail::code_q5(block, i) - 15);
  return out;
}

template <typename From>
void move_zero_of(MatrixCopy& matrix) {
  using To = decltype(with_other_zero(From{}));
  const size_t n = matrix.blocks.size() / sizeof(From);
  std::vector<uint8_t> blocks(n * sizeof(To));
  for (size_t b = 0; b < n; ++b) {
    From from;
    std::memcpy(&from, matrix.blocks.data() + b * sizeof from, sizeof from);
    const To to = with_other_zero(from);
    std::memcpy(blocks.data() + b * sizeof to, &to, sizeof to);
  }
  matrix.blocks = std::move(blocks);
  matrix.format = format_of<To>();
}

// A code above the others has no place in the file's own format, but in the next wider one.
void move_zero(MatrixCopy& matrix) {
  if (matrix.format == PLUMB_Q4_0) {
    move_zero_of<plumb_block_q4_0>(matrix);
  } else {
    move_zero_of<plumb_block_q5_0>(matrix);
  }
}

// A block of zeros means values of 0 in every format, and its scale is the first to say so. Formats
// without blocks lose as many values as a small block holds.
void lose_last_block(MatrixCopy& matrix) {
  const FormatInfo& info = *find_format(matrix.format);
  const uint64_t row_bytes = matrix.blocks.size() / matrix.n_rows;
  const uint64_t lost_bytes = std::min<uint64_t>(
      row_bytes, info.is_quantised ? info.block_bytes : uint64_t{PLUMB_QK} * info.block_bytes);
  for (uint64_t end = row_bytes; end <= matrix.blocks.size(); end += row_bytes)
    std::fill_n(matrix.blocks.data() + end - lost_bytes, lost_bytes, uint8_t{0});
}

constexpr Set kQuantised = {PLUMB_Q4_0, PLUMB_Q4_1, PLUMB_Q5_0, PLUMB_Q5_1, PLUMB_Q8_0,
                            PLUMB_Q2_K, PLUMB_Q3_K, PLUMB_Q4_K, PLUMB_Q5_K, PLUMB_Q6_K};

const char* has_two_blocks(const OpFacts& facts) {
  const FormatInfo* info = facts.weight == nullptr ? nullptr : find_format(facts.weight->format);
  return info != nullptr && facts.weight->n_columns / info->block_values >= 2
             ? nullptr
             : "rows of two blocks or more";
}

constexpr Fault kFaults[] = {
    {.name = "weight_scale_and_min_swapped",
     .breaks = "the scale and the minimum of each block are taken for each other",
     .ops = kUsers,
     .formats = {PLUMB_Q4_1, PLUMB_Q5_1, PLUMB_Q2_K, PLUMB_Q4_K, PLUMB_Q5_K},
     .change_weight = swap_scale_and_minimum},
    {.name = "weight_nibble_order",
     .breaks = "low and high nibbles are taken for each other",
     .ops = kUsers,
     .formats = {PLUMB_Q4_0, PLUMB_Q4_1, PLUMB_Q4_K},
     .change_weight = swap_nibbles},
    {.name = "weight_block_pairing",
     .breaks = "neighbouring blocks of a row have each other's scale",
     .ops = kUsers,
     .formats = kQuantised,
     .misfit = has_two_blocks,
     .change_weight = pair_scales},
    {.name = "weight_sign_bit",
     .breaks = "the zero point is off by one: q - 8 becomes q - 7, q - 16 becomes q - 15",
     .ops = kUsers,
     .formats = {PLUMB_Q4_0, PLUMB_Q5_0},
     .change_weight = move_zero},
    {.name = "weight_high_bits_lost",
     .breaks = "the bits that lie apart, above the nibbles, are taken for 0",
     .ops = kUsers,
     .formats = {PLUMB_Q5_0, PLUMB_Q5_1, PLUMB_Q5_K, PLUMB_Q6_K},
     .change_weight = lose_high_bits},
    {.name = "matmul_last_block_lost",
     .breaks = "the last block of each row (32 values of formats without blocks) does not count",
     .ops = {PLUMB_OP_MATMUL},
     .change_weight = lose_last_block},
};

}  // namespace

std::span<const Fault> weight_faults() {
  return kFaults;
}

}  // namespace plumbline::fault
