// pick_errors.h: door 40: the same logits, coin and state given to both sides' sampler stages.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/diff/report.h"
#include "core/diff/stage_errors.h"
#include "core/pipeline/sampler_chain.h"
#include "plumb/sdk/result.h"

namespace plumbline::diff {

/// What the stages left, as probabilities in id order; they add up to 1.
struct Distribution {
  std::vector<int32_t> ids;
  std::vector<double> probabilities;

  /// Of at least one candidate.
  static Distribution of(const Left& left);
};

/// Total variation of two distributions that the same stages made of the same logits: each stage
/// may round each logit once, relative 2^-24, and logits are below 100.
inline constexpr double kDrawRounding = 1e-5;

/// Half the sum of the differences.
double total_variation(const Distribution& a, const Distribution& b);

// The probability, over coins that both sides share, that they pick different ids. The formulas and
// where they come from: core/doc/diff.md, "Door 40".
double flip_probability_cdf(const Distribution& a, const Distribution& b);
double flip_probability_gumbel(const Distribution& a, const Distribution& b);
/// Of two draws with coins of their own.
double flip_probability_independent(const Distribution& a, const Distribution& b);

/// Both chains pick from the same logits; B's begins with the state of A's in the stages that
/// both have. Where one picks nothing (its script is over, a grammar allows nothing, a stage fails
/// NUMERIC) the verdict is WRONG, or UNEXPLAINED if both do; CANCELLED if both scripts are over.
/// Fails else as the chains do.
Result<PickErrors> compare_picks(pipeline::SamplerChain& a, pipeline::SamplerChain& b,
                                 std::span<const float> logits,
                                 const plumb_sample_context& context);

}  // namespace plumbline::diff
