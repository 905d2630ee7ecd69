#include <algorithm>
#include <cstring>

#include "core/model/op_observer.h"
#include "core/model/program.h"

namespace plumbline::model {
namespace {

// The slice of an operand that is no KV cache, as the op's record has it; null where the record
// holds quantised activations.
plumb_slice* slice_in_record(plumb_op& op, size_t operand) {
  switch (op.kind) {
    case PLUMB_OP_EMBED:
      return &op.as.embed.ids;
    case PLUMB_OP_RMS_NORM:
    case PLUMB_OP_LAYER_NORM:
      return &op.as.norm.in;
    case PLUMB_OP_QUANTIZE:
      return &op.as.quantize.in;
    case PLUMB_OP_MATMUL:
      return op.as.matmul.in_format == PLUMB_F32 ? &op.as.matmul.in : nullptr;
    case PLUMB_OP_ROPE:
      return operand == 0   ? &op.as.rope.in
             : operand == 1 ? &op.as.rope.positions
             : operand == 2 ? &op.as.rope.cos_table
                            : &op.as.rope.sin_table;
    case PLUMB_OP_KV_APPEND:
      return operand == 0   ? &op.as.kv_append.k
             : operand == 1 ? &op.as.kv_append.v
                            : &op.as.kv_append.positions;
    case PLUMB_OP_ATTEND:
      return operand == 0 ? &op.as.attend.q : &op.as.attend.positions;
    default:
      return operand == 0 ? &op.as.elementwise.a : &op.as.elementwise.b;
  }
}

plumb_handle kv_of(const plumb_op& op) {
  return op.kind == PLUMB_OP_ATTEND ? op.as.attend.kv : op.as.kv_append.kv;
}

}  // namespace

const OpInfo& OpSite::info() const {
  return program_->info(index_);
}
plumb_op& OpSite::op() const {
  return program_->op(index_);
}

RowShape OpSite::input_shape(size_t operand) const {
  const Operand& read = info().operands[operand];
  const plumb_op& record = op();
  if (read.is_kv()) return {0, record.as.attend.n_rows_kv, info().kv_width};
  // The tables of RoPE are whole; everything else has the op's rows.
  if (record.kind == PLUMB_OP_ROPE && operand >= 2)
    return {0, record.as.rope.table_rows, record.as.rope.n_rotated / 2};
  return {first_position_, record.n_rows, program_->values().width(read.value)};
}

bool OpSite::has_output() const {
  return info().kind != PLUMB_OP_QUANTIZE;
}

RowShape OpSite::output_shape() const {
  const plumb_op& record = op();
  if (record.kind == PLUMB_OP_KV_APPEND)
    return {0, record.as.kv_append.first_row + record.n_rows, info().kv_width};
  return {first_position_, record.n_rows, program_->values().width(info().output)};
}

Result<plumb_slice> OpSite::operand_slice(size_t operand) const {
  if (const plumb_slice* slice = slice_in_record(op(), operand)) return *slice;
  return program_->values().slice(info().operands[operand].value, info().backend);
}

Result<void> OpSite::read_input(size_t operand, std::vector<float>& to) const {
  std::vector<int32_t> ignored;
  if (info().operands[operand].is_kv()) return read_kv(0, n_kv_rows(), to, ignored);
  PLUMB_ASSIGN(const plumb_slice slice, operand_slice(operand));
  to.resize(input_shape(operand).size());
  return program_->backend_of(index_).read(slice, to.data(), 4 * to.size());
}

Result<void> OpSite::write_input(size_t operand, std::span<const float> values) const {
  const Operand& read = info().operands[operand];
  if (read.is_kv()) return write_kv(0, values, {});
  PLUMB_ASSIGN(const plumb_slice slice, operand_slice(operand));
  PLUMB_TRY(program_->backend_of(index_).write(slice, values.data(), values.size_bytes()));
  if (read.quantised_by >= 0) return program_->run_op(static_cast<size_t>(read.quantised_by));
  return {};
}

Result<void> OpSite::read_output(std::vector<float>& to) const {
  std::vector<int32_t> ignored;
  if (info().kind == PLUMB_OP_KV_APPEND) return read_kv(0, n_kv_rows(), to, ignored);
  PLUMB_ASSIGN(const plumb_slice slice, program_->values().slice(info().output, info().backend));
  to.resize(output_shape().size());
  return program_->backend_of(index_).read(slice, to.data(), 4 * to.size());
}

Result<std::span<const float>> OpSite::view_output(std::vector<float>& room) const {
  if (info().kind != PLUMB_OP_KV_APPEND) {
    PLUMB_ASSIGN(const plumb_slice slice, program_->values().slice(info().output, info().backend));
    if (const void* const data = program_->backend_of(index_).host_pointer(slice))
      return std::span(static_cast<const float*>(data), output_shape().size());
  }
  PLUMB_TRY(read_output(room));
  return std::span<const float>(room);
}

Result<void> OpSite::write_output(std::span<const float> values) const {
  if (info().kind == PLUMB_OP_KV_APPEND) return write_kv(0, values, {});
  PLUMB_ASSIGN(const plumb_slice slice, program_->values().slice(info().output, info().backend));
  return program_->backend_of(index_).write(slice, values.data(), values.size_bytes());
}

Result<void> OpSite::run() const {
  return program_->run_op(index_);
}

// ---- KV caches: the backend's halves [S,K,C] and [S,K,C] as rows of one matrix

uint32_t OpSite::n_kv_rows() const {
  return info().kind == PLUMB_OP_KV_APPEND ? output_shape().n_rows : op().as.attend.n_rows_kv;
}

Result<void> OpSite::read_kv(uint32_t first, uint32_t n_rows, std::vector<float>& rows,
                             std::vector<int32_t>& positions) const {
  const Backend& backend = program_->backend_of(index_);
  const size_t half = info().kv_width / 2;
  std::vector<float> k(n_rows * half), v(n_rows * half);
  positions.resize(n_rows);
  ErrorBuffer error;
  const plumb_status status = backend.table().kv_export(
      backend.self(), kv_of(op()), first, n_rows, k.data(), v.data(), positions.data(), error);
  if (status != PLUMB_OK) return error.take(status).at(backend.id() + ": op " + info().name);
  rows.resize(2 * half * n_rows);
  for (size_t row = 0; row < n_rows; ++row) {
    std::copy_n(&k[row * half], half, &rows[2 * row * half]);
    std::copy_n(&v[row * half], half, &rows[(2 * row + 1) * half]);
  }
  return {};
}

Result<void> OpSite::write_kv(uint32_t first, std::span<const float> rows,
                              std::span<const int32_t> positions) const {
  const Backend& backend = program_->backend_of(index_);
  const size_t half = info().kv_width / 2;
  const auto n = static_cast<uint32_t>(rows.size() / (2 * half));
  std::vector<float> k(n * half), v(n * half);
  std::vector<int32_t> held(positions.begin(), positions.end());
  ErrorBuffer error;
  plumb_status status = PLUMB_OK;
  if (positions.empty()) {
    held.resize(n);
    status = backend.table().kv_export(backend.self(), kv_of(op()), first, n, nullptr, nullptr,
                                       held.data(), error);
    if (status != PLUMB_OK) return error.take(status).at(backend.id() + ": op " + info().name);
  }
  for (size_t row = 0; row < n; ++row) {
    std::copy_n(&rows[2 * row * half], half, &k[row * half]);
    std::copy_n(&rows[(2 * row + 1) * half], half, &v[row * half]);
  }
  status = backend.table().kv_import(backend.self(), kv_of(op()), first, n, k.data(), v.data(),
                                     held.data(), error);
  if (status != PLUMB_OK) return error.take(status).at(backend.id() + ": op " + info().name);
  return {};
}

}  // namespace plumbline::model
