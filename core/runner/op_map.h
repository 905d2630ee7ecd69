// op_map.h: which tensors of a foreign engine are which of our ops: a YAML file, and what it means
// for one model. The file's language: core/doc/runner.md.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/config/config_tree.h"
#include "core/runner/transforms.h"
#include "plumb/sdk/result.h"

namespace plumbline::runner {

/// One tensor that a runner can give: rows of `width` values.
struct TapInfo {
  std::string name;
  uint32_t width = 0;
};

/// A tap on its way to one of our ops.
struct MappedPart {
  std::string tap;
  uint32_t tap_width = 0;
  std::vector<Transform> transforms = {};
  uint32_t width = 0;  // after them
};

/// One op of ours: its parts side by side in each row.
struct MappedOp {
  std::string name;  // "3.attn_q_rope"
  std::vector<MappedPart> parts = {};
  uint32_t width = 0;
};

/// What a map is resolved against: a loaded model.
struct MappedModel {
  std::string architecture;
  uint32_t n_layers = 0;
  Sizes sizes;
  std::vector<TapInfo> taps;
};

/// The map in a file, for a model: one entry for each op, in the file's order, layer after layer.
/// Fails NOT_FOUND, INVALID_CONFIG with file:line:column: a mistake in the file, a tap that the
/// runner does not offer, a transform that does not fit.
Result<std::vector<MappedOp>> read_op_map(const std::string& path, const MappedModel& model);

/// One row of ours out of the rows of its taps, in the order of parts. scratch: kept between calls.
void make_row(const MappedOp& op, std::span<const std::span<const float>> taps,
              std::vector<float>& scratch, std::span<float> out);

}  // namespace plumbline::runner
