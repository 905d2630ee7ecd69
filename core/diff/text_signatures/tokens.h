// tokens.h: hypotheses of door 10, by what is changed.
#pragma once

#include <string>
#include <vector>

#include "core/diff/text_signatures/tokenizer_json.h"
#include "core/diff/text_signatures/trial.h"

namespace plumbline::diff {

using TokenHypothesis = TextHypothesis<pipeline::Prompt, pipeline::Encoding>;
using TokenHypotheses = std::vector<TokenHypothesis>;

/// Of the ids that A gives: what stands around them, where they end, by how much they are shifted.
/// first_a, first_b: of the input.
void add_id_hypotheses(const TokenEvidence& evidence, const pipeline::Encoding& first_a,
                       const pipeline::Encoding& first_b, TokenHypotheses& out);
/// Of literals that are matched or not.
void add_literal_hypotheses(const TokenEvidence& evidence, TokenHypotheses& out);
/// Of a text that is changed before A reads it.
void add_rewriting_hypotheses(const TokenEvidence& evidence, TokenHypotheses& out);
/// Of A's tokenizer.json, a section changed.
void add_json_hypotheses(const TokenEvidence& evidence, TokenHypotheses& out);
/// Of its model and its added tokens.
void add_model_hypotheses(const TokenEvidence& evidence, const TokenizerJson& file,
                          TokenHypotheses& out);
/// Of A's GGUF keys, one changed.
void add_gguf_hypotheses(const TokenEvidence& evidence, TokenHypotheses& out);
/// Less said: a whole section of A's tokenizer.json is B's.
void add_section_hypotheses(const TokenEvidence& evidence, TokenHypotheses& out);

/// The changed file, as a side of door 10.
TokenHypothesis json_hypothesis(const TokenEvidence& evidence, std::string signature,
                                std::string statement, std::vector<std::string_view> path,
                                Json value);

/// Texts at which tokenizers are known to differ, and A's own literals between words.
std::vector<pipeline::Prompt> token_probes(const TokenEvidence& evidence);

/// Steps of a section that is one step, a Sequence of them, or nothing.
std::vector<Json> steps_of(const Json& section, const char* list_key);
Json section_of(const std::vector<Json>& steps, const char* list_key);

}  // namespace plumbline::diff
