// product_faults.cc: products with quantised activations by another arithmetic. Codes lie as these
// faults need them, so quantize and matmul are both theirs.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "call.h"

namespace plumbline::fault {
namespace {

constexpr Set kProducts = {PLUMB_OP_QUANTIZE, PLUMB_OP_MATMUL};

struct Q8Block {
  float scale;
  int8_t codes[PLUMB_QK];
};
static_assert(sizeof(Q8Block) == kOwnBlockBytes);

constexpr float kSmallestScaled = 0x1p-100f;  // rule 2 of core/doc/numerics.md

/// Rule 2, with one scale for each `group` values. Fails NUMERIC.
Result<void> quantise_by(Call& call, uint64_t group) {
  const plumb_op_quantize& op = call.op().as.quantize;
  const uint64_t n = uint64_t{call.op().n_rows} * op.width;
  if (op.width == 0 || op.width % PLUMB_QK != 0)
    return Error{PLUMB_INVALID_ARGUMENT, "quantize: width: expected a multiple of 32"};
  PLUMB_ASSIGN(const std::span<float> x, call.read<float>(op.in, n));
  PLUMB_ASSIGN(const std::span<Q8Block> blocks, call.room<Q8Block>(n / PLUMB_QK));
  for (uint64_t begin = 0; begin < n; begin += group) {
    float largest = 0;
    for (const float value : x.subspan(begin, group)) {
      if (!std::isfinite(value))
        return Error{PLUMB_NUMERIC, "quantize: row " + std::to_string(begin / op.width) +
                                        " has a value that is NaN or infinite"};
      largest = std::max(largest, std::fabs(value));
    }
    const bool is_zero = largest < kSmallestScaled;
    const float inverse = is_zero ? 0 : 127.0f / largest;
    for (uint64_t i = begin; i < begin + group; ++i) {
      Q8Block& block = blocks[i / PLUMB_QK];
      block.scale = is_zero ? 0 : largest / 127.0f;
      block.codes[i % PLUMB_QK] = static_cast<int8_t>(std::nearbyint(x[i] * inverse));
    }
  }
  return call.write(op.out, blocks);
}

/// out[t,n] = dot(row n of W, codes of t) + bias[n]. Dot(row bytes, row values or empty, codes).
template <typename Dot>
Result<void> multiply_by(Call& call, bool needs_values, Dot&& dot) {
  const plumb_op_matmul& op = call.op().as.matmul;
  const Weight& weight = *call.facts().weight;
  const uint64_t T = call.op().n_rows, n_blocks = op.n_in / PLUMB_QK;
  PLUMB_ASSIGN(const std::span<Q8Block> x, call.read<Q8Block>(op.in, T * n_blocks));
  PLUMB_ASSIGN(const std::span<float> row, call.room<float>(op.n_in));
  PLUMB_ASSIGN(const std::span<float> out, call.room<float>(T * op.n_out));
  const uint64_t row_bytes = weight.blocks.size() / weight.n_rows;
  const uint64_t row_blocks = op.n_in / find_format(weight.format)->block_values;
  for (uint64_t n = 0; n < op.n_out; ++n) {
    const uint8_t* blocks = weight.blocks.data() + n * row_bytes;
    if (needs_values) dequantise_blocks(weight.format, blocks, row_blocks, row.data());
    for (uint64_t t = 0; t < T; ++t) {
      const float sum = dot(blocks, row, x.subspan(t * n_blocks, n_blocks));
      out[t * op.n_out + n] = op.bias == 0 ? sum : sum + call.facts().bias->values[n];
    }
  }
  return call.write(op.out, out);
}

/// Weights as bytes without a sign, 128 too large, times signed codes; pairs are added in 16 bits
/// that saturate, and 128 times the codes' sum is taken off again. Elsewhere rule 3.
float saturating_dot(const uint8_t* blocks, std::span<const Q8Block> x) {
  float sum = 0;
  for (size_t b = 0; b < x.size(); ++b) {
    plumb_block_q8_0 w;
    std::memcpy(&w, blocks + b * sizeof w, sizeof w);
    int32_t products = 0, codes = 0;
    for (int i = 0; i < PLUMB_QK; i += 2) {
      const int32_t pair =
          (w.qs[i] + 128) * x[b].codes[i] + (w.qs[i + 1] + 128) * x[b].codes[i + 1];
      products += std::clamp<int32_t>(pair, INT16_MIN, INT16_MAX);
      codes += x[b].codes[i] + x[b].codes[i + 1];
    }
    sum += (f16_to_f32(w.d) * x[b].scale) * static_cast<float>(products - 128 * codes);
  }
  return sum;
}

float plain_dot(std::span<const float> row, std::span<const Q8Block> x) {
  double sum = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    const Q8Block& block = x[i / PLUMB_QK];
    sum += double{block.scale} * block.codes[i % PLUMB_QK] * row[i];
  }
  return static_cast<float>(sum);
}

Result<void> saturate_pairs(Call& call) {
  if (call.op().kind == PLUMB_OP_QUANTIZE) return quantise_by(call, PLUMB_QK);
  return multiply_by(call, false,
                     [](const uint8_t* blocks, std::span<float>, std::span<const Q8Block> x) {
                       return saturating_dot(blocks, x);
                     });
}

Result<void> share_scale(Call& call) {
  if (call.op().kind == PLUMB_OP_QUANTIZE) return quantise_by(call, call.op().as.quantize.width);
  return multiply_by(call, true,
                     [](const uint8_t*, std::span<float> row, std::span<const Q8Block> x) {
                       return plain_dot(row, x);
                     });
}

const char* has_product(const OpFacts& facts) {
  if (facts.op.kind == PLUMB_OP_QUANTIZE) return nullptr;
  const plumb_op_matmul& op = facts.op.as.matmul;
  const bool has_shape = facts.weight != nullptr && facts.weight->n_rows == op.n_out &&
                         facts.weight->n_columns == op.n_in && !facts.weight->blocks.empty();
  const bool has_bias =
      op.bias == 0 || (facts.bias != nullptr && facts.bias->values.size() == op.n_out);
  const bool is_q8 = op.in_format == PLUMB_ACT_Q8 && op.n_in % PLUMB_QK == 0;
  return has_shape && has_bias && is_q8 ? nullptr
                                        : "quantised activations, and weights of the op's shape";
}
const char* has_q8_product(const OpFacts& facts) {
  if (facts.op.kind == PLUMB_OP_MATMUL && facts.weight != nullptr &&
      facts.weight->format != PLUMB_Q8_0)
    return "weights of Q8_0";
  return has_product(facts);
}

constexpr Fault kFaults[] = {
    {.name = "matmul_saturating_product",
     .breaks = "pairs of products are added in 16 bits that saturate, as by vpmaddubsw",
     .ops = kProducts,
     .formats = {PLUMB_Q8_0},
     .needs_q8 = true,
     .misfit = has_q8_product,
     .run = saturate_pairs},
    {.name = "activation_scale_shared",
     .breaks = "a row of activations is quantised with one scale, not one for each block",
     .ops = kProducts,
     .needs_q8 = true,
     .misfit = has_product,
     .run = share_scale},
};

}  // namespace

uint64_t own_activation_bytes(uint64_t n_rows, uint64_t width) {
  if (width % PLUMB_QK != 0) return 0;
  const auto n = checked_product(n_rows, width / PLUMB_QK);
  return n ? checked_product(*n, kOwnBlockBytes).value_or(0) : 0;
}

std::span<const Fault> product_faults() {
  return kFaults;
}

}  // namespace plumbline::fault
