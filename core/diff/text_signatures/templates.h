// templates.h: hypotheses of door 00.
#pragma once

#include <string>
#include <vector>

#include "core/diff/text_signatures/trial.h"

namespace plumbline::diff {

using TemplateHypothesis = TextHypothesis<Conversation, std::string>;
using TemplateHypotheses = std::vector<TemplateHypothesis>;

/// Another conversation or request for A's template.
void add_conversation_hypotheses(const TemplateEvidence& evidence, TemplateHypotheses& out);
/// A's bytes, of which a part is changed. first_a, first_b: of the conversation.
void add_byte_hypotheses(const TemplateEvidence& evidence, const std::string& first_a,
                         const std::string& first_b, TemplateHypotheses& out);
/// A's template text changed.
void add_source_hypotheses(const TemplateEvidence& evidence, TemplateHypotheses& out);

/// Does A's prompt go on with the last message without being asked to?
bool goes_on(const Conversation& conversation);

}  // namespace plumbline::diff
