#include "core/diff/split_introduced.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "plumb/sdk/blocks.h"
#include "plumb/sdk/quantise.h"

namespace plumbline::diff {
namespace {

/// 2 times the largest that healthy pairs were seen to do, in units of the estimate:
/// core/doc/noise.md.
constexpr double kHeadroom = 4;
/// RMS of a value between two steps of a code, in steps.
const double kHalfStep = 1 / std::sqrt(12.0);
/// Outputs on which the formats' parts and their bounds are estimated; kernels are judged on all.
constexpr uint64_t kColumns = 128;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

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

double rms_of(std::span<const float> values) {
  double sum = 0;
  for (const float x : values) sum += double{x} * x;
  return std::sqrt(sum / static_cast<double>(values.size()));
}

// Four sums, since one would wait for itself.
double dot(std::span<const double> x, const float* w) {
  double sums[4] = {};
  size_t k = 0;
  for (; k + 4 <= x.size(); k += 4) {
    for (size_t i = 0; i < 4; ++i) sums[i] += x[k + i] * w[k + i];
  }
  for (; k < x.size(); ++k) sums[0] += x[k] * w[k];
  return sums[0] + sums[1] + sums[2] + sums[3];
}

bool fits(const CodedRow& row, const CodedSide& side) {
  return side.weight != nullptr && side.weight->rank == 2 &&
         find_format(side.weight->format) != nullptr &&
         tensor_bytes(side.weight->format, {side.weight->dims, 2}) == side.weight->data.bytes &&
         side.weight->dims[0] == row.a.weight->dims[0] &&
         side.weight->dims[1] == row.a.weight->dims[1];
}

std::vector<uint32_t> regular_columns(uint64_t n_out) {
  std::vector<uint32_t> columns(std::min(n_out, kColumns));
  for (uint64_t i = 0; i < columns.size(); ++i)
    columns[i] = static_cast<uint32_t>(i * n_out / columns.size());
  return columns;
}

/// What both kernels make of their own codes: (B - exact B) - (A - exact A), over all outputs.
double arithmetic_of(const CodedRow& row, const Matrix& x_a, const Matrix& x_b, ThreadPool& pool) {
  const WeightRows weight_a = rows_of(*row.a.weight), weight_b = rows_of(*row.b.weight);
  const bool same_weights = row.a.weight->data.data == row.b.weight->data.data;
  const uint64_t n_out = weight_a.n_rows, width = weight_a.width;
  const auto n_parts = static_cast<uint32_t>(std::min<uint64_t>(n_out, 8 * pool.n_at_work()));
  std::vector<double> sums(n_parts);
  std::vector<float> room(n_parts * width);
  pool.run(n_parts, [&](uint32_t, uint32_t part) {
    float* const w = room.data() + part * width;
    double sum = 0;
    for (uint64_t i = n_out * part / n_parts; i < n_out * (part + 1) / n_parts; ++i) {
      const double bias = row.bias.empty() ? 0.0 : row.bias[i];
      weight_a.read(i, w);
      const double of_a = row.a.output[i] - (bias + dot(x_a.row(0), w));
      if (!same_weights) weight_b.read(i, w);
      const double of_b = row.b.output[i] - (bias + dot(x_b.row(0), w));
      sum += (of_b - of_a) * (of_b - of_a);
    }
    sums[part] = sum;
  });
  return std::sqrt(std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(n_out));
}

OpErrors::Split split_product(const CodedRow& row, ThreadPool& pool) {
  const Rows x{{0, 1, static_cast<uint32_t>(row.x.size())}, {row.x.begin(), row.x.end()}};
  const QuantisedRows codes =
      row.a.is_quantised || row.b.is_quantised ? quantise_rows(x) : QuantisedRows();
  const auto activations = [&](const CodedSide& side) {
    return side.is_quantised ? matrix_of(codes) : matrix_of(x);
  };
  const Matrix x_a = activations(row.a), x_b = activations(row.b);
  const WeightRows weight_a = rows_of(*row.a.weight), weight_b = rows_of(*row.b.weight);
  const std::vector<uint32_t> columns = regular_columns(weight_a.n_rows);
  OpErrors::Split split;
  split.arithmetic = arithmetic_of(row, x_a, x_b, pool);
  const Matrix other_weights = matmul(x_a, weight_b, {}, columns);
  if (row.a.weight->data.data != row.b.weight->data.data)
    split.weights = rms_between(other_weights, matmul(x_a, weight_a, {}, columns));
  if (weight_a.format != weight_b.format) {
    split.weights_bound =
        kHeadroom * std::hypot(round_trip(x_a, weight_b, weight_a.format, columns),
                               round_trip(x_a, weight_a, weight_b.format, columns));
  }
  if (row.a.is_quantised != row.b.is_quantised) {
    split.activations = rms_between(matmul(x_b, weight_b, {}, columns), other_weights);
    split.activations_bound = kHeadroom * activation_round_trip(codes, weight_b, columns);
  }
  return split;
}

OpErrors::Split split_embed(const CodedRow& row) {
  const int32_t id = static_cast<int32_t>(row.id);
  const auto read = [&](const WeightRows& weight) { return embed(std::span(&id, 1), weight); };
  const WeightRows weight_a = rows_of(*row.a.weight), weight_b = rows_of(*row.b.weight);
  const Matrix exact_a = read(weight_a), exact_b = read(weight_b);
  const auto cost = [&](const WeightRows& weight, plumb_format format) {
    if (format == PLUMB_F32) return 0.0;
    const bool fits = weight.width % find_format(format)->block_values == 0;
    if (!can_quantise(format) || !fits) return stated_error(format) * rms_of(read(weight));
    return rms_between(read(requantised(weight, format)), read(weight));
  };
  OpErrors::Split split;
  split.weights = rms_between(exact_b, exact_a);
  split.weights_bound =
      kHeadroom * std::hypot(cost(weight_b, weight_a.format), cost(weight_a, weight_b.format));
  double sum = 0;
  for (size_t i = 0; i < exact_a.values.size(); ++i) {
    const double own =
        (row.b.output[i] - exact_b.values[i]) - (row.a.output[i] - exact_a.values[i]);
    sum += own * own;
  }
  split.arithmetic = std::sqrt(sum / static_cast<double>(exact_a.values.size()));
  return split;
}

double used(double part, std::optional<double> bound) {
  if (part == 0) return 0;
  const double share = bound && *bound > 0 ? part / *bound : kInfinity;
  return std::isnan(share) ? kInfinity : share;
}

}  // namespace

std::optional<OpErrors::Split> split_introduced(const CodedRow& row, ThreadPool& pool) {
  if (!fits(row, row.a) || !fits(row, row.b)) return std::nullopt;
  const bool is_product = !row.x.empty();
  const uint64_t* const dims = row.a.weight->dims;
  const uint64_t n_out = is_product ? dims[0] : dims[1];
  if (row.a.output.size() != n_out || row.b.output.size() != n_out) return std::nullopt;
  if (is_product && (row.x.size() != dims[1] || (!row.bias.empty() && row.bias.size() != n_out)))
    return std::nullopt;
  const bool has_codes = row.a.is_quantised || row.b.is_quantised;
  if (has_codes && dims[1] % PLUMB_QK != 0) return std::nullopt;
  const double size = rms_of(row.a.output);
  if (!(size > 0)) return std::nullopt;
  OpErrors::Split split = is_product ? split_product(row, pool) : split_embed(row);
  for (double* const part : {&split.weights, &split.activations, &split.arithmetic,
                             &split.weights_bound, &split.activations_bound})
    *part /= size;
  if (row.a.kernel_budget && row.b.kernel_budget)
    split.arithmetic_bound = *row.a.kernel_budget + *row.b.kernel_budget;
  return split;
}

double bound_used(const OpErrors::Split& split) {
  return std::max({used(split.weights, split.weights_bound),
                   used(split.activations, split.activations_bound),
                   used(split.arithmetic, split.arithmetic_bound)});
}

Verdict verdict_of(const OpErrors::Split& split) {
  if (used(split.weights, split.weights_bound) > 1 ||
      used(split.activations, split.activations_bound) > 1)
    return Verdict::kWrong;
  return bound_used(split) > 1 ? Verdict::kUnexplained : Verdict::kDrift;
}

}  // namespace plumbline::diff
