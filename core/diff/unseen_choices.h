// unseen_choices.h: choices that differ, and that no door looked at.
#pragma once

#include <cstdint>
#include <set>
#include <span>

#include "core/diff/bisect_choices.h"
#include "core/diff/report.h"

namespace plumbline::diff {

/// Such a choice of tokenizer or sampling is no match: UNEXPLAINED at best, and a note. compared:
/// the doors that some prompt or turn compared; seed: of both sides' coins, whatever their configs
/// say.
void judge_unseen_choices(std::span<const Choice> choices, const std::set<Door>& compared,
                          uint64_t seed, Report& report);

}  // namespace plumbline::diff
