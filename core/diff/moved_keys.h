// moved_keys.h: why the rows that an eviction moved differ: their keys were turned wrongly.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/diff/report.h"
#include "core/diff/side.h"

namespace plumbline::diff {

/// Rows f32[n,2*K*C] of a layer's cache, k before v, behind an eviction: those that it moved.
struct MovedRows {
  std::span<const float> a, b;
  uint32_t n_gone = 0;  // rows that went: by so many positions each of these moved down
  uint32_t last_position = 0;
  int32_t layer = 0;
};

/// A's keys, turned on to where B's would stand, must be B's keys in every row, and the values
/// equal bits. Of the model that side has. The cause has no place. Nothing: they are equal, or no
/// cause was proved.
std::optional<Cause> explain_moved_keys(Side& side, const MovedRows& rows);

}  // namespace plumbline::diff
