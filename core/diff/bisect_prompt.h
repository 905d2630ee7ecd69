// bisect_prompt.h: the shortest prompt that still shows what a long one shows.
#pragma once

#include <cstdint>
#include <functional>

#include "core/diff/bisect_search.h"
#include "core/diff/engine.h"

namespace plumbline::diff {

struct ShortPrompt {
  PromptInput prompt;
  uint32_t n_runs = 0;
  bool is_cut_short = false;  // the runs did not suffice: a shorter one may exist
};

/// Takes away, by ddmin, what can be spared: of a conversation messages, then words of their
/// contents; of a text words, then characters; of ids single ids. At least one piece stays. The
/// prompt itself reproduces. stop: may be empty; true: no further runs. Fails as a run does.
Result<ShortPrompt> shorten(const PromptInput& prompt,
                            const std::function<Result<Outcome>(const PromptInput&)>& run,
                            uint32_t n_runs_max, const std::function<bool()>& stop);

}  // namespace plumbline::diff
