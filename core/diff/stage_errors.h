// stage_errors.h: what both sides' sampler stages left of the same logits, stage by stage.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/diff/report.h"
#include "core/pipeline/sampler_chain.h"

namespace plumbline::diff {

/// What a stage left, in id order, however it lay.
struct Left {
  std::vector<int32_t> ids;
  std::vector<float> logits;  // of each id

  static Left of(const plumb_candidates& candidates);
  /// In front of all stages.
  static Left of(std::span<const float> row);
  /// Bit by bit.
  bool operator==(const Left& other) const;
};

/// Which stage of one list stands where which of the other does; -1: the other has none there.
struct StagePair {
  int32_t a = -1, b = -1;
};
/// Pairs stages of one name, so that as many as possible have a partner and of these as many as
/// possible one with the same parameters. Each list keeps its order.
std::vector<StagePair> paired_stages(const pipeline::SamplerChain& a,
                                     const pipeline::SamplerChain& b);

/// left_a, left_b: in front of the first stage, then behind each that ran. Where a list has no
/// stage, what it had left before counts.
std::vector<StageErrors> compare_stages(const pipeline::SamplerChain& a,
                                        const std::vector<Left>& left_a,
                                        const pipeline::SamplerChain& b,
                                        const std::vector<Left>& left_b);

}  // namespace plumbline::diff
