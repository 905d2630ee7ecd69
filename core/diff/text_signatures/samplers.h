// samplers.h: hypotheses of door 40.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/diff/text_signatures/trial.h"

namespace plumbline::diff {

using SamplerHypothesis = TextHypothesis<Draw, Drawn>;
using SamplerHypotheses = std::vector<SamplerHypothesis>;

/// A's list with a stage less, more, elsewhere, with other parameters, or with another draw.
void add_list_hypotheses(const SamplerEvidence& evidence, SamplerHypotheses& out);
/// A's list with a stage that keeps to another rule.
void add_rule_hypotheses(const SamplerEvidence& evidence, SamplerHypotheses& out);
/// A's own stages, told another seed, step, state or order of ids.
void add_context_hypotheses(const SamplerEvidence& evidence, SamplerHypotheses& out);

/// Rows of every shape that decides a stage: steep and flat, with ties among the best and at the
/// edge of what is kept; with control tokens and repeats in the prompt and in the answer.
std::vector<Draw> sampler_probes(const Draw& given);

// What a stage is, by its name.
bool is_truncation(std::string_view stage);
bool is_penalty(std::string_view stage);
bool is_temperature(std::string_view stage);
bool is_draw(std::string_view stage);

/// A hypothesis that is another config.
SamplerHypothesis config_hypothesis(const SamplerEvidence& evidence, std::string signature,
                                    std::string statement, config::SamplingConfig changed);

}  // namespace plumbline::diff
