// logit_row.h: what a row of logits says at its top.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/golden/bundle.h"

namespace plumbline::golden {

/// The first id that is no finite number; -1: all are.
int32_t first_not_finite(std::span<const float> row);

/// Falling, ties by rising id: the order in which samplers pick.
std::vector<TopLogit> top_logits(std::span<const float> row, size_t n);

/// Standard deviation, in double precision.
double sigma_of(std::span<const float> row);

double cosine(std::span<const float> a, std::span<const float> b);
double mean_absolute(std::span<const float> a, std::span<const float> b);

}  // namespace plumbline::golden
