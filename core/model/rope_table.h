// rope_table.h: cosines and sines of position angles, made by the host and handed to kernels as
// data.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/model/hyper_parameters.h"

namespace plumbline::model {

/// Inverse frequencies f32[n_rotated/2], scaling applied, as transformers computes them.
/// factors: rope_freqs.weight, f32[n_rotated/2], needed for the scaling kind `factors` only.
/// Source: transformers modeling_rope_utils.py (default, linear, llama3, yarn).
std::vector<float> inverse_frequencies(const Rope& rope, std::span<const float> factors);

/// cosine and sine f32[n_rows, n/2] of the positions first, first + 1, ...: angle = f32(position) *
/// f32(frequency), each times attention_factor.
void fill_rope_rows(std::span<const float> frequencies, double attention_factor,
                    uint32_t first_position, uint32_t n_rows, float* cosines, float* sines);

}  // namespace plumbline::model
