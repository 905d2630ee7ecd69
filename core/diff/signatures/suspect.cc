#include "core/diff/signatures/suspect.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "plumb/sdk/blocks.h"

namespace plumbline::diff {
namespace {

/// Products of one evaluation; more than that, and a hypothesis is tried on a choice of rows and
/// outputs: so many of them at least.
constexpr uint64_t kMostProducts = uint64_t{1} << 24;
constexpr uint64_t kLeastRows = 4, kLeastColumns = 64;

const plumb_tensor* find(const OpSide& side, std::string_view name) {
  const model::ModelFile::Entry* entry = side.file == nullptr ? nullptr : side.file->find(name);
  return entry == nullptr ? nullptr : &entry->tensor;
}

bool is_whole(const plumb_tensor& tensor) {
  const std::span<const uint64_t> dims(tensor.dims, tensor.rank);
  return tensor.rank >= 1 && tensor.rank <= 2 &&
         tensor_bytes(tensor.format, dims) == tensor.data.bytes;
}

/// n_most of the indices into `differs`, ascending: half of them where it is largest, the others at
/// equal distances. All: no indices.
std::vector<uint32_t> choice(std::vector<double> differs, uint64_t n_most) {
  const uint64_t n = differs.size();
  if (n_most >= n) return {};
  for (double& value : differs)
    if (std::isnan(value)) value = std::numeric_limits<double>::infinity();
  std::vector<uint32_t> chosen(n);
  std::iota(chosen.begin(), chosen.end(), 0u);
  std::stable_sort(chosen.begin(), chosen.end(),
                   [&](uint32_t a, uint32_t b) { return differs[a] > differs[b]; });
  chosen.resize(n_most / 2);
  const uint64_t n_regular = n_most - n_most / 2;
  for (uint64_t i = 0; i < n_regular; ++i)
    chosen.push_back(static_cast<uint32_t>(i * n / n_regular));
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

}  // namespace

std::optional<Suspect> Suspect::of(const OpEvidence& evidence, Side side) {
  Suspect suspect(evidence, side);
  if (!suspect.choose_record() || !suspect.has_its_inputs()) return std::nullopt;
  suspect.choose_rows();
  suspect.choose_columns();
  return suspect;
}

bool Suspect::choose_record() {
  if (own().hyper_parameters == nullptr && other().hyper_parameters == nullptr) return false;
  record_ = other().hyper_parameters != nullptr ? other().record : own().record;
  if (record_.kind != own().record.kind || record_.kind != evidence_->info.kind) return false;
  if (record_.kind == PLUMB_OP_MATMUL)
    record_.as.matmul.in_format = own().record.as.matmul.in_format;
  return true;
}

bool Suspect::has_its_inputs() const {
  const model::OpInfo& info = evidence_->info;
  const auto has = [&](size_t operand, uint64_t n_rows, uint64_t width) {
    if (operand >= inputs().size()) return false;
    const Rows& rows = inputs()[operand];
    return rows.shape.n_rows == n_rows && rows.shape.width == width &&
           rows.values.size() == rows.shape.size();
  };
  const uint64_t T = record_.n_rows;
  const model::RowShape& out = evidence_->output_shape;
  if (own().output.size() != out.size() || other().output.size() != out.size() || T == 0)
    return false;
  const auto fits = [&](const plumb_tensor* tensor, uint64_t n_rows, uint64_t width) {
    return tensor != nullptr && is_whole(*tensor) && tensor->dims[tensor->rank - 1] == width &&
           (tensor->rank == 1 ? 1 : tensor->dims[0]) == n_rows;
  };
  if (record_.kind != PLUMB_OP_KV_APPEND && out.n_rows != T) return false;
  switch (record_.kind) {
    case PLUMB_OP_EMBED:
      return has(0, T, 1) && weight() != nullptr && is_whole(*weight()) && weight()->rank == 2 &&
             weight()->dims[1] == out.width;
    case PLUMB_OP_RMS_NORM: {
      const plumb_op_norm& norm = record_.as.norm;
      return norm.width != 0 && uint64_t{norm.n_groups} * norm.width == out.width &&
             has(0, T, out.width) && (info.weight.empty() || fits(weight(), 1, norm.width));
    }
    case PLUMB_OP_MATMUL: {
      const plumb_op_matmul& product = record_.as.matmul;
      const bool is_quantised = product.in_format == PLUMB_ACT_Q8;
      return product.n_out == out.width && has(0, T, product.n_in) &&
             (!is_quantised || product.n_in % PLUMB_QK == 0) &&
             fits(weight(), product.n_out, product.n_in) &&
             (info.bias.empty() || fits(tensor(info.bias), 1, product.n_out));
    }
    case PLUMB_OP_ROPE: {
      const plumb_op_rope& rope = record_.as.rope;
      return uint64_t{rope.n_heads} * rope.head_width == out.width && has(0, T, out.width) &&
             has(1, T, 1) && rope.n_rotated % 2 == 0 && rope.n_rotated <= rope.head_width;
    }
    case PLUMB_OP_KV_APPEND:
      return info.kv_width == out.width && has(0, T, out.width / 2) && has(1, T, out.width / 2) &&
             out.n_rows == uint64_t{record_.as.kv_append.first_row} + T;
    case PLUMB_OP_ATTEND: {
      const uint32_t H = record_.as.attend.n_heads;
      const uint32_t C = H == 0 ? 0 : out.width / H;
      const uint32_t K = C == 0 ? 0 : info.kv_width / 2 / C;
      return K != 0 && H % K == 0 && H * C == out.width && has(0, T, out.width) && has(1, T, 1) &&
             inputs().size() > 2 && has(2, inputs()[2].shape.n_rows, info.kv_width) &&
             record_.as.attend.mask <= PLUMB_MASK_WINDOW;
    }
    case PLUMB_OP_ADD:
      return has(0, T, out.width) && has(1, T, out.width);
    case PLUMB_OP_ACTIVATE:
    case PLUMB_OP_SCALE:
    case PLUMB_OP_SOFTCAP:
      return has(0, T, out.width) && (inputs().size() < 2 || has(1, T, out.width));
    default:
      return false;
  }
}

void Suspect::choose_rows() {
  uint64_t products = 0;  // of a row
  if (record_.kind == PLUMB_OP_MATMUL) products = kLeastColumns * record_.as.matmul.n_in;
  if (record_.kind == PLUMB_OP_ATTEND)
    products = uint64_t{2} * inputs()[2].shape.n_rows * evidence_->output_shape.width;
  if (products == 0) return;
  const size_t width = evidence_->output_shape.width;
  std::vector<double> differs(record_.n_rows);
  for (size_t i = 0; i < own().output.size(); ++i)
    differs[i / width] += std::abs(double{own().output[i]} - other().output[i]);
  rows_ = choice(std::move(differs), std::max(kLeastRows, kMostProducts / products));
}

void Suspect::choose_columns() {
  if (record_.kind != PLUMB_OP_MATMUL) return;
  const uint32_t n_out = record_.as.matmul.n_out;
  const uint64_t n_rows = rows_.empty() ? record_.n_rows : rows_.size();
  std::vector<double> differs(n_out);
  for (size_t i = 0; i < own().output.size(); ++i)
    differs[i % n_out] += std::abs(double{own().output[i]} - other().output[i]);
  columns_ = choice(std::move(differs),
                    std::max(kLeastColumns, kMostProducts / n_rows / record_.as.matmul.n_in));
  if (!columns_.empty()) return;
  columns_.resize(n_out);
  std::iota(columns_.begin(), columns_.end(), 0u);
}

// ---- What the op should do

const model::HyperParameters& Suspect::hyper_parameters() const {
  return other().hyper_parameters != nullptr ? *other().hyper_parameters : *own().hyper_parameters;
}

const plumb_tensor* Suspect::tensor(std::string_view name) const {
  if (name.empty()) return nullptr;
  const plumb_tensor* right = find(other(), name);
  const plumb_tensor* mine = find(own(), name);
  if (right == nullptr || mine == nullptr) return right == nullptr ? mine : right;
  return right->format == mine->format ? right : mine;
}

NormParameters Suspect::norm() const {
  NormParameters how;
  how.n_groups = record_.as.norm.n_groups;
  how.width = record_.as.norm.width;
  how.epsilon = record_.as.norm.epsilon;
  if (weight() != nullptr) how.weight = values_of(rows_of(*weight()));
  return how;
}

RopeParameters Suspect::rope() const {
  const model::HyperParameters& hp = hyper_parameters();
  const auto layer = static_cast<size_t>(std::max(evidence_->info.layer, 0));
  const bool slides = layer < hp.sliding_layers.size() && hp.sliding_layers[layer];
  const model::Rope& kind = slides ? hp.rope_local : hp.rope;
  RopeParameters how;
  how.n_heads = record_.as.rope.n_heads;
  how.head_width = record_.as.rope.head_width;
  how.n_rotated = record_.as.rope.n_rotated;
  how.pairing = record_.as.rope.pairing;
  std::vector<float> factors;
  if (const plumb_tensor* held = tensor("rope_freqs.weight")) factors = values_of(rows_of(*held));
  factors.resize(kind.n_rotated / 2, 1.0f);
  how.frequencies = rope_frequencies(kind, factors);
  how.frequencies.resize(how.n_rotated / 2);
  how.magnitude = kind.attention_factor;
  return how;
}

AttendParameters Suspect::attention() const {
  return attend_parameters(record_.as.attend, inputs()[0].shape.width, evidence_->info.kv_width);
}

ProductParameters Suspect::product() const {
  ProductParameters how;
  how.weight = rows_of(*weight());
  if (!evidence_->info.bias.empty()) how.bias = values_of(rows_of(*tensor(evidence_->info.bias)));
  how.is_quantised = record_.as.matmul.in_format == PLUMB_ACT_Q8;
  return how;
}

Matrix Suspect::normed(const OpInputs& inputs, const NormParameters& how) const {
  return rms_norm(matrix_of(inputs[0]), how);
}

Matrix Suspect::rotated(const OpInputs& inputs, const RopeParameters& how) const {
  return diff::rope(matrix_of(inputs[0]), integers_of(inputs[1]), how);
}

Matrix Suspect::attended(const OpInputs& inputs, const AttendParameters& how) const {
  return attend(matrix_of(inputs[0]), integers_of(inputs[1]), matrix_of(inputs[2]), how);
}

Matrix Suspect::multiplied(const OpInputs& inputs, const ProductParameters& how) const {
  const Matrix x = how.is_quantised ? matrix_of(quantise_rows(inputs[0])) : matrix_of(inputs[0]);
  return matmul(x, how.weight, how.bias, columns_);
}

int32_t Suspect::last_position() const {
  const std::vector<int32_t> positions = integers_of(inputs()[1]);
  return *std::max_element(positions.begin(), positions.end());
}

Matrix Suspect::cache_before() const {
  const size_t n = size_t{record_.as.kv_append.first_row} * evidence_->info.kv_width;
  return matrix_of(std::span(other().output).first(n), evidence_->info.kv_width);
}

Matrix Suspect::plain(const OpInputs& inputs) const {
  const plumb_op_elementwise& e = record_.as.elementwise;
  switch (record_.kind) {
    case PLUMB_OP_EMBED:
      return embed(integers_of(inputs[0]), rows_of(*weight()));
    case PLUMB_OP_RMS_NORM:
      return normed(inputs, norm());
    case PLUMB_OP_MATMUL:
      return multiplied(inputs, product());
    case PLUMB_OP_ROPE:
      return rotated(inputs, rope());
    case PLUMB_OP_KV_APPEND:
      return kv_append(cache_before(), matrix_of(inputs[0]), matrix_of(inputs[1]),
                       record_.as.kv_append.first_row);
    case PLUMB_OP_ATTEND:
      return attended(inputs, attention());
    default:
      break;
  }
  const Matrix b = inputs.size() > 1 ? matrix_of(inputs[1]) : Matrix();
  return elementwise(matrix_of(inputs[0]), b, [&](double x, double y) {
    switch (record_.kind) {
      case PLUMB_OP_ACTIVATE:
        return activation(e.function, x) * y;
      case PLUMB_OP_ADD:
        return x + y;
      case PLUMB_OP_SCALE:
        return x * e.parameter;
      default:
        return softcap(x, e.parameter);
    }
  });
}

// ---- What it does

OpInputs Suspect::narrowed(OpInputs inputs) const {
  if (rows_.empty()) return inputs;
  const size_t n_operands = record_.kind == PLUMB_OP_ATTEND ? 2 : 1;  // positions go with queries
  for (size_t operand = 0; operand < n_operands; ++operand) {
    Rows& rows = inputs[operand];
    const size_t width = rows.shape.width;
    for (size_t i = 0; i < rows_.size(); ++i)  // ascending: none is overwritten before it is read
      std::copy_n(&rows.values[rows_[i] * width], width, &rows.values[i * width]);
    rows.values.resize(rows_.size() * width);
    rows.shape.n_rows = static_cast<uint32_t>(rows_.size());
  }
  return inputs;
}

Matrix Suspect::chosen(std::span<const float> output) const {
  const size_t width = evidence_->output_shape.width;
  Matrix out(rows_.empty() ? output.size() / width : rows_.size(),
             columns_.empty() ? width : columns_.size());
  for (size_t t = 0; t < out.n_rows; ++t) {
    const auto from = output.subspan((rows_.empty() ? t : rows_[t]) * width, width);
    for (size_t i = 0; i < out.width; ++i) out.row(t)[i] = from[columns_.empty() ? i : columns_[i]];
  }
  return out;
}

std::optional<Matrix> Suspect::run(const OpInputs& inputs) const {
  if (!own().run) return std::nullopt;
  const Result<std::vector<float>> output = own().run(inputs);
  if (!output || output->size() != evidence_->output_shape.size()) return std::nullopt;
  return chosen(*output);
}

}  // namespace plumbline::diff
