// forced.h: one prompt in forced mode: B runs on A's inputs at every door, and on its own.
#pragma once

#include "core/diff/engine.h"
#include "core/pipeline/tokenizer.h"

namespace plumbline::diff {

/// What both modes know of a prompt before anything runs.
struct PreparedPrompt {
  std::string bytes_a;  // empty where ids were given
  pipeline::Encoding encoding_a, encoding_b;  // B's: of A's bytes in forced mode
};

/// Doors 20 to 60, added to the report of a prompt. say: Progress with the prompt's number. True:
/// A's answer goes on behind the tokens that were wanted.
Result<bool> compare_forced(Side& a, Side& b, const PreparedPrompt& prompt,
                            const DiffRequest& request, const Progress& say, PromptReport& report);

}  // namespace plumbline::diff
