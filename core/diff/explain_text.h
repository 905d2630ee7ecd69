// explain_text.h: why a door of text differs, for the engine: the evidence is gathered from two
// sides.
#pragma once

#include <optional>
#include <span>

#include "core/diff/engine.h"
#include "core/diff/report.h"
#include "core/diff/side.h"

namespace plumbline::diff {

// Nothing where no cause was proved, or a side cannot be asked: the place is known, the cause is
// not.

/// Doors 00 and 10, whichever of the report's exact doors differs first.
std::optional<Cause> explain_prompt(Side& a, Side& b, const PromptInput& input,
                                    const DiffRequest& request, const PromptReport& report);
/// Door 40: both sides' stages on the same logits. context: of the pick; state: of A's stages in
/// front of it.
std::optional<Cause> explain_pick(Side& a, Side& b, std::span<const float> logits,
                                  const plumb_sample_context& context, std::span<const char> state,
                                  const PickErrors& pick);
/// Doors 50 and 60, whichever differs first: both sides' texts of the same ids. show_b: as
/// DiffRequest has it.
std::optional<Cause> explain_shown(Side& a, Side& b, std::span<const int32_t> ids,
                                   const Shower& show_b, const PromptReport& report);

}  // namespace plumbline::diff
