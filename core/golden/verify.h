// verify.h: golden data against a side that runs the same model.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "core/diff/noise.h"
#include "core/diff/side.h"
#include "core/golden/bundle.h"
#include "core/golden/finding.h"

namespace plumbline::golden {

struct VerifyRequest {
  const diff::NoiseTable* noise = nullptr;  // null: no level is known
  const std::atomic<bool>* cancel = nullptr;
  uint32_t n_greedy_max = UINT32_MAX;  // of the recorded ids; slow backends look at the first few
};

/// Notes on plugins that are not the recorded ones: they are what is tested.
std::vector<std::string> plugin_changes(const Identity& recorded, const Identity& seen);

/// The values in which the resolved configs differ: "kernels.backend: recorded "auto", now
/// "reference"".
std::vector<std::string> config_changes(const Identity& recorded, const Identity& seen);

/// How far the side's logits may lie from the recorded ones, as a level of gap_change; 0: equal
/// bits; empty: not known.
std::optional<double> noise_against(const Identity& recorded, const diff::Side& side,
                                    const diff::NoiseTable* noise);

/// Ids of the prompts, first-step logits, their top, and the greedy ids: each is asked for behind
/// the recorded ones, so that one difference does not make the next. A side that fails NUMERIC is a
/// finding. Fails as read_logits, CORRUPT (another vocabulary than the model's), and as the side
/// does.
Result<std::vector<Finding>> verify_prompts(const Bundle& bundle, const std::string& folder,
                                            diff::Side& side, const VerifyRequest& request);

/// side: of the bundle's model in the other format, a file that `plumb model quantize` made.
Result<std::vector<Finding>> verify_requantised(const Bundle& bundle, const Requantised& made,
                                                const std::string& folder, diff::Side& side,
                                                const VerifyRequest& request);

}  // namespace plumbline::golden
