#include "core/runner/tap_plan.h"

#include <algorithm>
#include <utility>

namespace plumbline::runner {
namespace {

Error broken(const std::string& what) {
  return {PLUMB_CORRUPT, what};
}

/// f32[H,R,C] as f32[R,H*C].
std::vector<float> heads_side_by_side(const std::vector<uint64_t>& shape,
                                      const std::vector<float>& values) {
  const uint64_t n_heads = shape[0], n_rows = shape[1], channels = shape[2];
  std::vector<float> rows(values.size());
  for (uint64_t head = 0; head < n_heads; ++head) {
    for (uint64_t row = 0; row < n_rows; ++row) {
      std::copy_n(values.begin() + static_cast<ptrdiff_t>((head * n_rows + row) * channels),
                  channels,
                  rows.begin() + static_cast<ptrdiff_t>((row * n_heads + head) * channels));
    }
  }
  return rows;
}

/// How many rows a tap's tensor has; it must be [R,W] or [H,R,C] with H*C = W and R at most n_rows.
Result<uint32_t> rows_of(const TensorHead& head, uint32_t width, uint32_t n_rows) {
  const std::vector<uint64_t>& shape = head.shape;
  const bool is_rows = shape.size() == 2 && shape[1] == width;
  const bool is_heads = shape.size() == 3 && shape[0] * shape[2] == width;
  const uint64_t n = is_rows ? shape[0] : is_heads ? shape[1] : 0;
  if (n >= 1 && n <= n_rows) return static_cast<uint32_t>(n);
  return broken(head.describe() + ", expected 1 to " + std::to_string(n_rows) + " rows of " +
                std::to_string(width) + " values");
}

}  // namespace

TapPlan::TapPlan(std::vector<const MappedOp*> ops, uint32_t n_ids, uint32_t n_rows,
                 uint32_t n_vocab)
    : ops_(std::move(ops)), n_ids_(n_ids), taps_{{kLogits, n_vocab}}, given_{{n_rows, {}}} {
  index_.emplace(kLogits, 0);
  for (const MappedOp* op : ops_) {
    for (const MappedPart& part : op->parts) {
      if (!index_.emplace(part.tap, taps_.size()).second) continue;
      taps_.push_back({part.tap, part.tap_width});
      given_.emplace_back();
    }
  }
}

std::vector<std::string> TapPlan::tap_names() const {
  std::vector<std::string> names;
  for (size_t i = 1; i < taps_.size(); ++i) names.push_back(taps_[i].name);
  return names;
}

uint64_t TapPlan::values_max() const {
  uint64_t n = uint64_t{given_[0].n_rows} * taps_[0].width;
  for (size_t i = 1; i < taps_.size(); ++i) n += uint64_t{n_ids_} * taps_[i].width;
  return n;
}

Result<void> TapPlan::read(Wire& wire, const std::vector<TensorHead>& heads,
                           const os::Deadline& deadline) {
  if (heads.size() != taps_.size()) {
    return broken(std::to_string(heads.size()) + " tensors, expected the logits and " +
                  std::to_string(taps_.size() - 1) + " taps");
  }
  const TensorHead logits{kLogits, {given_[0].n_rows, taps_[0].width}};
  if (heads[0].name != logits.name || heads[0].shape != logits.shape)
    return broken(heads[0].describe() + ", expected " + logits.describe());
  for (size_t i = 1; i < heads.size(); ++i) {
    if (heads[i].name != taps_[i].name)
      return broken("tensor " + shown(heads[i].name) + ", expected " + taps_[i].name);
    PLUMB_ASSIGN(given_[i].n_rows, rows_of(heads[i], taps_[i].width, n_ids_));
  }
  for (size_t i = 0; i < heads.size(); ++i) {
    PLUMB_ASSIGN(given_[i].values, wire.values(heads[i], deadline));
    if (heads[i].shape.size() == 3)
      given_[i].values = heads_side_by_side(heads[i].shape, given_[i].values);
  }
  return {};
}

Result<void> TapPlan::record(uint32_t end, trace::Recording& recording) const {
  std::vector<float> scratch, rows;
  for (const MappedOp* op : ops_) {
    std::vector<const TapRows*> parts;
    uint32_t n_rows = n_ids_;
    for (const MappedPart& part : op->parts) {
      parts.push_back(&given_[index_.at(part.tap)]);
      n_rows = std::min(n_rows, parts.back()->n_rows);
    }
    rows.resize(size_t{n_rows} * op->width);
    std::vector<std::span<const float>> inputs(parts.size());
    for (uint32_t row = 0; row < n_rows; ++row) {
      for (size_t i = 0; i < parts.size(); ++i) {
        const size_t width = op->parts[i].tap_width;
        inputs[i] =
            std::span(parts[i]->values).subspan((parts[i]->n_rows - n_rows + row) * width, width);
      }
      make_row(*op, inputs, scratch, std::span(rows).subspan(size_t{row} * op->width, op->width));
    }
    PLUMB_TRY(recording.put(op->name, end - n_rows, op->width, rows));
  }
  return {};
}

}  // namespace plumbline::runner
