#include <nlohmann/json.hpp>

#include "core/diff/text_signatures/samplers.h"
#include "core/diff/text_signatures/wrong_stages.h"

namespace plumbline::diff {
namespace {

/// A parameter that has two words, and what a stage does under each. The first is the default.
struct Rule {
  const char* key;
  const char* word[2];
  const char* signature[2];  // B's rule, where A has the other one
  const char* statement[2];
};

constexpr Rule kControlTokens = {
    "control_tokens",
    {"spare", "penalise"},
    {"control_tokens_spared", "control_tokens_penalised"},
    {"B's penalties spare control tokens, A's do not",
     "B penalises control tokens too, so that an end token grows unlikely; A spares them"}};
constexpr const char* kCountSignatures[2] = {"prompt_not_counted", "prompt_counted"};
constexpr const char* kCountStatements[2] = {
    "B's penalties count generated ids alone, A's the "
    "prompt's too",
    "B's penalties count the prompt's ids too, A's "
    "generated ids alone"};
constexpr Rule kCountGenerated = {"count",
                                  {"generated", "all"},
                                  {kCountSignatures[0], kCountSignatures[1]},
                                  {kCountStatements[0], kCountStatements[1]}};
constexpr Rule kCountAll = {"count",
                            {"all", "generated"},
                            {kCountSignatures[1], kCountSignatures[0]},
                            {kCountStatements[1], kCountStatements[0]}};
constexpr Rule kRepetition = {
    "rule",
    {"ctrl_normalised", "ctrl_sign"},
    {"repetition_normalised", "repetition_by_sign"},
    {"B's repetition penalty multiplies log-probabilities, A's goes by a logit's sign",
     "B's repetition penalty divides logits above 0 and multiplies those below, so that a constant "
     "added to all changes it; A's multiplies log-probabilities"}};
constexpr Rule kTies = {"ties",
                        {"exact", "all"},
                        {"top_k_cuts_ties", "top_k_keeps_ties"},
                        {"B's top_k keeps exactly k, A's all that tie with the k-th",
                         "B's top_k keeps all that tie with the k-th, A's exactly k"}};

std::vector<const Rule*> rules_of(std::string_view stage) {
  if (stage == "frequency" || stage == "presence") return {&kControlTokens, &kCountGenerated};
  if (stage == "repetition") return {&kControlTokens, &kCountAll, &kRepetition};
  if (stage == "dry") return {&kControlTokens};
  if (stage == "top_k") return {&kTies};
  return {};
}

/// The stage with the rule's other word: which one, or nothing where it has neither.
std::optional<size_t> flip(config::StageConfig& stage, const Rule& rule) {
  auto params = nlohmann::json::parse(stage.params_json, nullptr, false);
  if (!params.is_object()) return std::nullopt;
  const bool is_first = !params.contains(rule.key) || params[rule.key] == rule.word[0];
  const size_t other = is_first ? 1 : 0;
  params[rule.key] = rule.word[other];
  stage.params_json = params.dump();
  return other;
}

}  // namespace

void add_rule_hypotheses(const SamplerEvidence& evidence, SamplerHypotheses& out) {
  const config::SamplingConfig& own = evidence.sampling_a;
  for (size_t i = 0; i < own.stages.size(); ++i) {
    for (const Rule* const rule : rules_of(own.stages[i].stage)) {
      config::SamplingConfig changed = own;
      const auto word = flip(changed.stages[i], *rule);
      if (!word) continue;
      out.push_back(
          config_hypothesis(evidence, rule->signature[*word], rule->statement[*word], changed));
      // One bug in what several stages share.
      for (size_t other = 0; other < own.stages.size(); ++other) {
        const auto& rules = rules_of(own.stages[other].stage);
        if (other != i && std::ranges::find(rules, rule) != rules.end())
          flip(changed.stages[other], *rule);
      }
      out.push_back(config_hypothesis(evidence, rule->signature[*word], rule->statement[*word],
                                      std::move(changed)));
    }
    for (const WrongStage& wrong : wrong_stages()) {
      if (own.stages[i].stage != wrong.stage) continue;
      out.push_back({wrong.signature, wrong.statement,
                     [sampled = evidence.sampled, own, i, table = wrong.table] {
                       return sampled(own, StageInPlace{i, table});
                     }});
    }
  }
}

}  // namespace plumbline::diff
