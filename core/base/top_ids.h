// top_ids.h: which ids of a row of logits come first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace plumbline {

/// The order in which samplers have ids: falling by logit, ties by rising id; what is no number
/// comes last.
bool comes_before(std::span<const float> logits, int32_t id, int32_t other);

/// The first n ids in that order; all where there are fewer.
std::vector<int32_t> top_ids(std::span<const float> logits, size_t n);

}  // namespace plumbline
