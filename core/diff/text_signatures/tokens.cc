#include "core/diff/text_signatures/tokens.h"

#include "core/diff/text_signatures/diagnose.h"
#include "core/diff/text_signatures/metadata.h"

namespace plumbline::diff {

std::vector<Json> steps_of(const Json& section, const char* list_key) {
  if (!section.is_object()) return {};
  const auto list = section.find(list_key);
  if (list == section.end() || !list->is_array()) return {section};
  return {list->begin(), list->end()};
}

Json section_of(const std::vector<Json>& steps, const char* list_key) {
  if (steps.empty()) return nullptr;
  if (steps.size() == 1) return steps[0];
  Json sequence = Json::object();
  sequence["type"] = "Sequence";
  sequence[list_key] = steps;
  return sequence;
}

TokenHypothesis json_hypothesis(const TokenEvidence& evidence, std::string signature,
                                std::string statement, std::vector<std::string_view> path,
                                Json value) {
  return {std::move(signature), std::move(statement),
          [&evidence, path = std::move(path), value = std::move(value)]() -> Result<TokenSide> {
            const TokenizerJson file(text_of(*evidence.metadata_a, kTokenizerJsonKey));
            auto changed = file.with(path, value);
            if (!changed) return Error{PLUMB_NOT_FOUND, "tokenizer.json has no such section"};
            return evidence.changed_a({.tokenizer = {{kTokenizerJsonKey, *std::move(changed)}}});
          }};
}

std::optional<Cause> diagnose_tokens(const TokenEvidence& evidence) {
  std::vector<pipeline::Prompt> inputs = {evidence.prompt};
  for (pipeline::Prompt& probe : token_probes(evidence)) inputs.push_back(std::move(probe));
  const Trial<pipeline::Prompt, pipeline::Encoding> trial(evidence.a, evidence.b,
                                                          std::move(inputs));
  if (!trial.is_open()) return std::nullopt;
  TokenHypotheses exact;
  add_id_hypotheses(evidence, trial.first_a(), trial.first_b(), exact);
  add_literal_hypotheses(evidence, exact);
  add_rewriting_hypotheses(evidence, exact);
  add_json_hypotheses(evidence, exact);
  add_gguf_hypotheses(evidence, exact);
  if (auto cause = trial.judge(exact)) return cause;
  TokenHypotheses sections;
  add_section_hypotheses(evidence, sections);
  return trial.judge(sections);
}

}  // namespace plumbline::diff
