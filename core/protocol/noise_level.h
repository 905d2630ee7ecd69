// noise_level.h: how far two kinds of arithmetic lie apart, measured: what the levels of
// configs/diff/noise.json are made from. core/doc/noise.md tells how.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/diff/side.h"

namespace plumbline::protocol {

struct NoiseRequest {
  std::vector<std::string> prompts = {};  // texts, taken as they are
  uint32_t n_op_prompts = 16;  // of them, evenly spread, that ops are compared on
  uint32_t n_tokens_max = 256;  // of a prompt; the rest is not looked at
  const std::atomic<bool>* cancel = nullptr;
  std::function<void(const std::string& what)> on_progress = {};
};

struct MeasuredNoise {
  std::vector<double> gap_changes;  // in sigma, one for each row of logits, rising
  std::map<std::string, double> op_errors;  // by kind of op: the largest introduced_worst

  double quantile(double q) const;
};

/// Every row of every prompt. Fails as the sides do, INVALID_ARGUMENT (no prompts), NUMERIC (a gap
/// that is no number).
Result<MeasuredNoise> measure_noise(diff::Side& a, diff::Side& b, const NoiseRequest& request);

}  // namespace plumbline::protocol
