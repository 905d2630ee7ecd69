// impact.h: what each op or tensor of B costs when it alone stands in A: which tensors deserve more
// bits.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/diff/side.h"
#include "plumb/sdk/result.h"

namespace plumbline::diff {

struct ImpactRequest {
  std::vector<std::vector<int32_t>> prompts;  // ids, at least one each
  bool by_op = false;  // each op by itself; else ops that read one tensor go together
  const std::atomic<bool>* cancel = nullptr;  // set: what is not measured yet is left out
  std::function<void(uint32_t done, uint32_t of)> on_progress = {};
};

struct Impact {
  std::string name;  // the tensor; of what reads none, or by_op: the op
  std::vector<std::string> ops;
  std::string format_a, format_b;  // of the tensor; empty: none
  uint64_t bytes_a = 0, bytes_b = 0;
  bool is_equal = false;  // B's op gives A's bits on A's inputs
  double kl = 0;  // mean over the scored rows of KL(A || A with this of B), nats
  double kl_error = std::numeric_limits<double>::quiet_NaN();  // standard error, by prompt
  double same_top = 1;  // share of rows
};

struct ImpactReport {
  std::vector<Impact> impacts;  // the costliest first
  double kl_of_b = 0;  // mean KL(A || B)
  double same_top_of_b = 1;
  uint32_t n_prompts = 0;
  uint64_t n_rows = 0;  // scored
  uint32_t n_forwards = 0;
  bool is_complete = true;
};

/// Of each prompt the last 64 rows are scored. Each op or tensor costs one forward of A a prompt,
/// where B's op differs at all; of a tensor that several ops read, two more for each further op.
/// Fails UNSUPPORTED (a side that is a runner), INCOMPATIBLE (other vocabularies, ops of other
/// widths), and as a side does.
Result<ImpactReport> measure_impact(Side& a, Side& b, const ImpactRequest& request);

/// Logits of a prompt's last rows, f32[n,V], n at most 64, in A with some of B's ops, given in the
/// order in which they run: each computes what the ones before it leave.
Result<std::vector<float>> logits_with(Side& a, Side& b, const std::vector<std::string>& ops,
                                       std::span<const int32_t> ids);

nlohmann::ordered_json to_json(const ImpactReport& report);

}  // namespace plumbline::diff
