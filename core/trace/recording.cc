#include "core/trace/recording.h"

#include <algorithm>

namespace plumbline::trace {

Result<void> Recording::put(const std::string& op, uint32_t first_position, uint32_t width,
                            std::span<const float> values, std::span<const int32_t> kv_positions) {
  if (width == 0 || values.size() % width != 0) {
    return Error{PLUMB_INVALID_ARGUMENT, "op " + op + ": " + std::to_string(values.size()) +
                                             " values are no rows of " + std::to_string(width)};
  }
  auto [at, is_new] = rows_.try_emplace(op);
  Rows& rows = at->second;
  if (is_new) {
    order_.push_back(op);
    rows.first_position = first_position;
    rows.width = width;
  }
  if (rows.width != width) {
    return Error{PLUMB_INVALID_ARGUMENT, "op " + op + ": rows of " + std::to_string(width) +
                                             " values, before of " + std::to_string(rows.width)};
  }
  if (first_position < rows.first_position ||
      first_position > rows.first_position + rows.n_rows()) {
    return Error{PLUMB_INVALID_ARGUMENT,
                 "op " + op + ": rows from position " + std::to_string(first_position) +
                     ", but recorded are positions " + std::to_string(rows.first_position) +
                     " to " + std::to_string(rows.first_position + rows.n_rows())};
  }
  const size_t at_value = size_t{first_position - rows.first_position} * width;
  const auto first = rows.values.begin() + static_cast<std::ptrdiff_t>(at_value);
  // What is there is replaced; the rest is appended as it is, without being cleared first.
  const size_t n_replaced = std::min(values.size(), rows.values.size() - at_value);
  std::copy_n(values.begin(), n_replaced, first);
  rows.values.insert(rows.values.end(), values.begin() + static_cast<std::ptrdiff_t>(n_replaced),
                     values.end());
  bytes_ += 4 * (values.size() - n_replaced);
  if (kv_positions.empty()) return {};
  const size_t at_row = first_position - rows.first_position;
  rows.kv_positions.resize(std::max(rows.kv_positions.size(), at_row + kv_positions.size()));
  std::copy(kv_positions.begin(), kv_positions.end(),
            rows.kv_positions.begin() + static_cast<std::ptrdiff_t>(at_row));
  return {};
}

const Rows* Recording::find(std::string_view op) const {
  const auto found = rows_.find(op);
  return found == rows_.end() ? nullptr : &found->second;
}

std::span<const float> Recording::rows(std::string_view op, uint32_t first_position,
                                       uint32_t n_rows) const {
  const Rows* const found = find(op);
  if (found == nullptr || first_position < found->first_position) return {};
  const uint32_t skipped = first_position - found->first_position;
  if (skipped > found->n_rows() || n_rows > found->n_rows() - skipped) return {};
  return std::span(found->values)
      .subspan(size_t{skipped} * found->width, size_t{n_rows} * found->width);
}

Result<void> Recording::check_width(std::string_view op, uint32_t width) const {
  const Rows* const found = find(op);
  if (found == nullptr || found->width == width) return {};
  return Error{PLUMB_INCOMPATIBLE, "op " + std::string(op) + " has rows of " +
                                       std::to_string(found->width) + " values in A and of " +
                                       std::to_string(width) + " in B"};
}

void Recording::clear() {
  rows_.clear();
  order_.clear();
  bytes_ = 0;
}

bool Recorder::wants(const model::OpInfo& op) {
  return op.kind != PLUMB_OP_QUANTIZE;
}

Result<void> Recorder::after(model::OpSite& site) {
  const model::RowShape shape = site.output_shape();
  if (site.info().kind == PLUMB_OP_KV_APPEND) {
    PLUMB_TRY(site.read_kv(0, shape.n_rows, values_, kv_positions_));
    return recording_->put(site.info().name, 0, shape.width, values_, kv_positions_);
  }
  PLUMB_ASSIGN(const std::span<const float> values, site.view_output(values_));
  return recording_->put(site.info().name, shape.first_position, shape.width, values);
}

Result<void> put_recorded(const Recording& recording, const model::OpSite& site,
                          std::vector<float>& written) {
  const Rows* const recorded = recording.find(site.info().name);
  const model::RowShape shape = site.output_shape();
  if (recorded == nullptr) return {};
  PLUMB_TRY(recording.check_width(site.info().name, shape.width));
  const uint32_t first = std::max(shape.first_position, recorded->first_position);
  const uint32_t end =
      std::min(shape.first_position + shape.n_rows, recorded->first_position + recorded->n_rows());
  if (first >= end) return {};
  const auto rows = recording.rows(site.info().name, first, end - first);
  std::copy(rows.begin(), rows.end(),
            written.begin() +
                static_cast<std::ptrdiff_t>(size_t{first - shape.first_position} * shape.width));
  if (recorded->kv_positions.size() < recorded->n_rows()) return site.write_output(written);
  return site.write_kv(
      first, rows,
      std::span(recorded->kv_positions).subspan(first - recorded->first_position, end - first));
}

}  // namespace plumbline::trace
