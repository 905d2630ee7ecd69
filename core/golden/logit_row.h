// logit_row.h: what a row of logits says at its top.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/golden/bundle.h"

namespace plumbline::golden {

/// The first id that is no finite number; -1: all are.
int32_t first_not_finite(std::span<const float> row);

/// In the order of core/base/top_ids.h.
std::vector<TopLogit> top_logits(std::span<const float> row, size_t n);

}  // namespace plumbline::golden
