// chained.h: each side on its own outputs, from the prompt on: when would a user notice?
#pragma once

#include "core/diff/engine.h"
#include "core/diff/forced.h"

namespace plumbline::diff {

/// Doors 30 to 60 of one prompt, each side with its own ids, coins shared. Logits are compared up
/// to and with the first step at which the picks differ. True as compare_forced says.
Result<bool> compare_chained(Side& a, Side& b, const PreparedPrompt& prompt,
                             const DiffRequest& request, const Progress& say, PromptReport& report);

/// For sides whose ids mean different bytes: door 60, and the bits per byte of the prompt's text
/// under each. False.
Result<bool> compare_texts(Side& a, Side& b, const PreparedPrompt& prompt,
                           const DiffRequest& request, const Progress& say, PromptReport& report);

}  // namespace plumbline::diff
