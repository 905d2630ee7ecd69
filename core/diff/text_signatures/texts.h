// texts.h: hypotheses of doors 50 and 60.
#pragma once

#include <vector>

#include "core/diff/text_signatures/trial.h"

namespace plumbline::diff {

using TextHypotheses = std::vector<TextHypothesis<Ids, ShownText>>;

/// Other end tokens, and stops that are lost, missed, shown or held back too long.
void add_end_hypotheses(const DetokenisationEvidence& evidence, TextHypotheses& out);
/// Ids in which an answer ends, or nearly does, in every way that A knows.
std::vector<Ids> end_probes(const DetokenisationEvidence& evidence);

}  // namespace plumbline::diff
