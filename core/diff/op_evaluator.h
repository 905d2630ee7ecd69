// op_evaluator.h: every op of the decoder in f64: one plain function each, with all that could be
// done otherwise as a parameter. Written from core/doc/numerics.md and the papers alone, so that
// it can judge the backends.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/diff/evidence.h"
#include "core/model/hyper_parameters.h"
#include "plumb/formats.h"

namespace plumbline::diff {

struct Matrix {
  Matrix() = default;
  Matrix(size_t rows, size_t columns) : n_rows(rows), width(columns), values(rows * columns, 0.0) {}

  std::span<double> row(size_t r) { return {values.data() + r * width, width}; }
  std::span<const double> row(size_t r) const { return {values.data() + r * width, width}; }

  size_t n_rows = 0, width = 0;
  std::vector<double> values;
};

Matrix matrix_of(const Rows& rows);
Matrix matrix_of(std::span<const float> values, size_t width);
/// Ids or positions.
std::vector<int32_t> integers_of(const Rows& rows);

// ---- Weights and activations

/// A matrix of weights, made row by row: the head of a model is too large to be held in f64.
struct WeightRows {
  uint64_t n_rows = 0, width = 0;
  plumb_format format = PLUMB_F32;
  std::function<void(uint64_t row, float* out)> read;
};

/// Of a tensor [n,width] or [width] that outlives the result; `change` may alter the blocks of each
/// row before they are dequantised.
using ChangeBlocks = std::function<void(uint8_t* blocks, uint64_t n_blocks)>;
WeightRows rows_of(const plumb_tensor& tensor, ChangeBlocks change = nullptr);
/// All rows of it.
std::vector<float> values_of(const WeightRows& weight);

/// Activations as integer codes: core/doc/numerics.md, rule 2.
struct QuantisedRows {
  size_t n_rows = 0, width = 0;
  std::vector<int8_t> codes;  // [n_rows,width]
  std::vector<float> scales;  // [n_rows,width/32]
};
/// width: a multiple of 32. group: values that share a scale, a multiple of 32 that divides the
/// width; where one of them is not finite, the scale is NaN.
QuantisedRows quantise_rows(const Rows& x, size_t group = PLUMB_QK);
Matrix matrix_of(const QuantisedRows& x);

// ---- Ops

/// Rows of the weight by id; ids outside it give rows of zeros.
Matrix embed(std::span<const int32_t> ids, const WeightRows& weight);

struct NormParameters {
  uint32_t n_groups = 1, width = 0;
  double epsilon = 0;
  std::vector<float> weight;  // [width]; empty: ones
  double weight_offset = 0;  // added to each
  bool subtracts_mean = false;
  bool epsilon_outside_root = false;
  bool over_whole_row = false;  // one mean square for all groups
};
Matrix rms_norm(const Matrix& x, const NormParameters& how);

/// out[t,i] = sum_k x[t,k] * W[outputs[i],k] + bias[outputs[i]]. bias: [n_rows of W] or empty.
Matrix matmul(const Matrix& x, const WeightRows& weight, std::span<const float> bias,
              std::span<const uint32_t> outputs);

struct RopeParameters {
  uint32_t n_heads = 0, head_width = 0, n_rotated = 0;
  uint32_t pairing = PLUMB_ROPE_HALF;
  std::vector<float> frequencies;  // [n_rotated/2], scaling applied
  double magnitude = 1;  // multiplies cosine and sine
  double sign = 1;  // -1: turns the other way
};
/// As the model defines them: transformers' modeling_rope_utils.py rounds them to f32. factors: of
/// Scaling::factors, [n_rotated/2].
std::vector<float> rope_frequencies(const model::Rope& rope, std::span<const float> factors);
Matrix rope(const Matrix& x, std::span<const int32_t> positions, const RopeParameters& how);

struct AttendParameters {
  uint32_t n_heads = 0, n_heads_kv = 0, head_width = 0;
  double scale = 1, softcap = 0;  // softcap 0: none
  /// By the query's position and the key's.
  std::function<bool(int64_t query, int64_t key)> sees;
  std::function<uint32_t(uint32_t head)> kv_head;
};
/// As a record says it; kv_width: of a row of the cache.
AttendParameters attend_parameters(const plumb_op_attend& op, uint32_t q_width, uint32_t kv_width);
/// kv: f64[S,2*K*C], row s at position s. A query that sees no row gives zeros.
Matrix attend(const Matrix& q, std::span<const int32_t> positions, const Matrix& kv,
              const AttendParameters& how);

/// The cache after it: the first first_row rows of `before`, then k and v side by side.
Matrix kv_append(const Matrix& before, const Matrix& k, const Matrix& v, uint32_t first_row);

/// function: PLUMB_ACT_*.
double activation(uint32_t function, double x);
/// out = f(a, b); b: of a's shape, or empty and then taken as ones.
Matrix elementwise(const Matrix& a, const Matrix& b,
                   const std::function<double(double, double)>& f);
double softcap(double x, double cap);

// ---- Errors

/// Root mean square of a row's difference relative to `wanted`'s row; the largest of the rows.
/// Infinite where one side is not finite and the other is not the same.
double worst_row_error(const Matrix& seen, const Matrix& wanted);

}  // namespace plumbline::diff
