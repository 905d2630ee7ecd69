// impact.h: what `plumb diff --impact` does.
#pragma once

#include <cstdint>
#include <vector>

#include "core/cli/diff_options.h"

namespace plumbline::cli {

struct ImpactOptions {
  bool by_op = false;
  bool json = false;
  uint32_t n_lines = 30;
};

/// Ranks the ops or tensors of B by what each costs alone in A, and prints them.
int run_impact(diff::Side& a, diff::Side& b, const std::vector<diff::PromptInput>& prompts,
               const ImpactOptions& options);

}  // namespace plumbline::cli
