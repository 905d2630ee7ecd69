// split_introduced.cc: the introduced error of a product on quantised data, in three parts. Each is
// a step on the way from A's output to B's: other weights, other activations, the kernel.
#include <algorithm>
#include <cmath>

#include "core/diff/diagnose.h"
#include "core/diff/signatures/suspect.h"
#include "plumb/sdk/blocks.h"
#include "plumb/sdk/quantise.h"

namespace plumbline::diff {
namespace {

/// Makers of one format choose its codes by different rules, so that their errors differ.
constexpr double kHeadroom = 1.5;
/// RMS of a value between two steps of a code, in steps.
const double kHalfStep = 1 / std::sqrt(12.0);

const plumb_tensor* tensor_of(const OpSide& side, const std::string& name) {
  const model::ModelFile::Entry* entry = side.file == nullptr ? nullptr : side.file->find(name);
  return entry == nullptr ? nullptr : &entry->tensor;
}

bool is_q8(const OpSide& side) {
  return side.record.as.matmul.in_format == PLUMB_ACT_Q8;
}

double rms_of(const Matrix& matrix) {
  double sum = 0;
  for (const double x : matrix.values) sum += x * x;
  return std::sqrt(sum / static_cast<double>(matrix.values.size()));
}

double rms_between(const Matrix& a, const Matrix& b) {
  Matrix difference = a;
  for (size_t i = 0; i < b.values.size(); ++i) difference.values[i] -= b.values[i];
  return rms_of(difference);
}

Matrix squares_of(Matrix matrix) {
  for (double& x : matrix.values) x *= x;
  return matrix;
}

WeightRows squares_of(const WeightRows& weight) {
  WeightRows out = weight;
  out.read = [read = weight.read, width = weight.width](uint64_t row, float* to) {
    read(row, to);
    for (uint64_t i = 0; i < width; ++i) to[i] *= to[i];
  };
  return out;
}

/// RMS of an output whose terms have independent errors of these squares: sum of x^2 w^2, one of
/// the two being the square of an error.
double spread(const Matrix& x_squares, const WeightRows& w_squares,
              std::span<const uint32_t> columns) {
  Matrix sums = matmul(x_squares, w_squares, {}, columns);
  for (double& x : sums.values) x = std::sqrt(std::max(x, 0.0));
  return rms_of(sums);
}

/// After a round trip through a format that the SDK can make.
WeightRows requantised(const WeightRows& weight, plumb_format format) {
  const FormatInfo& info = *find_format(format);
  WeightRows out = weight;
  out.read = [read = weight.read, width = weight.width, info](uint64_t row, float* to) {
    read(row, to);
    const uint64_t n_blocks = width / info.block_values;
    std::vector<uint8_t> blocks(n_blocks * info.block_bytes);
    quantise_blocks(info.format, to, n_blocks, blocks.data());
    dequantise_blocks(info.format, blocks.data(), n_blocks, to);
  };
  return out;
}

/// Of a format that no quantiser is here for: the RMS error relative to the weights'. A block of 16
/// or 32 normal values reaches some 2 sigma to either side, which 2^bits steps divide.
double stated_error(plumb_format format) {
  const int bits = format == PLUMB_Q2_K                           ? 2
                   : format == PLUMB_Q3_K                         ? 3
                   : format == PLUMB_Q4_K                         ? 4
                   : format == PLUMB_Q5_1 || format == PLUMB_Q5_K ? 5
                                                                  : 9;  // BF16's digits
  return 4 / std::exp2(bits) * kHalfStep;
}

/// What `format` costs an output of x and these weights.
double round_trip(const Matrix& x, const WeightRows& weight, plumb_format format,
                  std::span<const uint32_t> columns) {
  if (format == PLUMB_F32) return 0;
  const bool fits = weight.width % find_format(format)->block_values == 0;
  if (!can_quantise(format) || !fits)
    return stated_error(format) * spread(squares_of(x), squares_of(weight), columns);
  return rms_between(matmul(x, requantised(weight, format), {}, columns),
                     matmul(x, weight, {}, columns));
}

/// What quantised activations cost an output: the spread of half a step of each block.
double activation_round_trip(const QuantisedRows& x, const WeightRows& weight,
                             std::span<const uint32_t> columns) {
  Matrix steps(x.n_rows, x.width);
  for (size_t i = 0; i < steps.values.size(); ++i)
    steps.values[i] = std::pow(kHalfStep * x.scales[i / PLUMB_QK], 2);
  return spread(steps, squares_of(weight), columns);
}

}  // namespace

std::optional<OpErrors::Split> split_introduced(const OpEvidence& evidence) {
  const plumb_tensor* of_a = tensor_of(evidence.a, evidence.info.weight);
  const plumb_tensor* of_b = tensor_of(evidence.b, evidence.info.weight);
  const auto suspect = Suspect::of(evidence, Suspect::Side::kB);
  if (of_a == nullptr || of_b == nullptr || !suspect || suspect->kind() != PLUMB_OP_MATMUL)
    return std::nullopt;
  if (of_a->rank != 2 || of_b->rank != 2 || !std::equal(of_a->dims, of_a->dims + 2, of_b->dims))
    return std::nullopt;
  const bool same_weights = of_a->format == of_b->format;
  const bool same_activations = is_q8(evidence.a) == is_q8(evidence.b);
  if (same_weights && same_activations) return std::nullopt;

  const Rows x = std::move(suspect->narrowed(evidence.inputs)[0]);
  const std::span<const uint32_t> columns = suspect->columns();
  const std::vector<float> bias = suspect->product().bias;
  const WeightRows weight_a = rows_of(*of_a), weight_b = rows_of(*of_b);
  const bool can_be_q8 = of_a->dims[1] % PLUMB_QK == 0;
  if (!can_be_q8 && (is_q8(evidence.a) || is_q8(evidence.b))) return std::nullopt;
  const auto activations = [&](const OpSide& side) {
    return is_q8(side) ? matrix_of(quantise_rows(x)) : matrix_of(x);
  };
  const Matrix x_a = activations(evidence.a), x_b = activations(evidence.b);
  const Matrix start = matmul(x_a, weight_a, bias, columns);
  const Matrix other_weights = matmul(x_a, weight_b, bias, columns);
  const Matrix other_activations = matmul(x_b, weight_b, bias, columns);
  const double size = rms_of(suspect->chosen(evidence.a.output));
  if (!(size > 0)) return std::nullopt;

  OpErrors::Split split;
  split.weights = rms_between(other_weights, start) / size;
  split.activations = rms_between(other_activations, other_weights) / size;
  split.arithmetic = rms_between(suspect->seen(), other_activations) / size;
  if (!same_weights) {
    split.weights_bound = kHeadroom / size *
                          std::hypot(round_trip(x_a, weight_b, of_a->format, columns),
                                     round_trip(x_a, weight_a, of_b->format, columns));
  }
  if (!same_activations) {
    split.activations_bound =
        kHeadroom / size * activation_round_trip(quantise_rows(x), weight_b, columns);
  }
  return split;
}

}  // namespace plumbline::diff
