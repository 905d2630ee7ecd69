// explain.h: why an op differs.
#pragma once

#include "core/diff/engine.h"
#include "core/diff/op_replay.h"
#include "core/diff/report.h"

namespace plumbline::diff {

/// Of a prompt whose ops were judged: the cause at the first op beyond its budget. An op is WRONG
/// where one was proved. Fails as the sides do.
Result<void> explain_ops(Side& a, Side& b, const Replay& replay, const Progress& say,
                         PromptReport& report);

}  // namespace plumbline::diff
