// lint_sampling.cc: rules on one stage and its parameters. Sources: core/doc/lint.md.
#include <cmath>

#include "core/pipeline/lint_subject.h"
#include "core/pipeline/sampler_chain.h"

namespace plumbline::pipeline {
namespace {

constexpr auto kNote = LintLevel::kNote;
constexpr auto kWarning = LintLevel::kWarning;

bool is_gauge_dependent(const LintSubject& subject, size_t i) {
  const LintStage& stage = stage_of(subject, i);
  return stage.name == "repetition" && stage.text("rule", "ctrl_normalised") == "ctrl_sign" &&
         stage.number("theta", 1) != 1;
}

bool penalises_control_tokens(const LintSubject& subject, size_t i) {
  const LintStage& stage = stage_of(subject, i);
  return stage.is_one_of({"frequency", "presence", "repetition", "dry"}) &&
         stage.text("control_tokens", "spare") == "penalise";
}

bool counts_the_prompt(const LintSubject& subject, size_t i) {
  const LintStage& stage = stage_of(subject, i);
  const char* standard = stage.name == "repetition" ? "all" : "generated";
  return stage.is_one_of({"frequency", "presence", "repetition"}) &&
         stage.text("count", standard) == "all";
}

/// The ranges of OpenAI's API for the two that subtract, and above 1.5 for the one that multiplies.
bool is_beyond_use(const LintSubject& subject, size_t i) {
  const LintStage& stage = stage_of(subject, i);
  if (stage.is_one_of({"frequency", "presence"})) return std::fabs(stage.number("strength", 0)) > 2;
  return stage.name == "repetition" && stage.number("theta", 1) > 1.5;
}

bool rewards(const LintSubject& subject, size_t i) {
  const LintStage& stage = stage_of(subject, i);
  if (stage.is_one_of({"frequency", "presence"})) return stage.number("strength", 0) < 0;
  return stage.name == "repetition" && stage.number("theta", 1) < 1;
}

/// A preset lists stages that are off so that they can be tuned where they stand.
std::vector<LintHit> idle_stages(const LintSubject& subject) {
  std::vector<LintHit> hits;
  for (const LintStage& stage : subject.idle_stages()) {
    if (stage.value->origin.preset.empty()) hits.push_back(hit_of(stage));
  }
  return hits;
}

bool leaves_hardly_any(const LintSubject& subject, size_t i) {
  const LintStage& stage = stage_of(subject, i);
  return (stage.name == "top_p" && stage.number("p", 1) < 0.1) ||
         (stage.name == "min_p" && stage.number("p", 0) > 0.9) ||
         (stage.name == "top_k" && stage.number("k", 2) == 1);
}

bool is_hot_alone(const LintSubject& subject, size_t i) {
  const LintStage& stage = stage_of(subject, i);
  const double t = stage.name == "temperature" ? stage.number("t", 1)
                   : stage.name == "dynamic_temperature"
                       ? stage.number("t", 1) + stage.number("range", 0)
                       : 1;
  return t > 1.2 &&
         !subject.has({"top_k", "top_p", "min_p", "typical", "top_n_sigma", "mirostat_v2"});
}

bool is_top_k_alone(const LintSubject& subject, size_t i) {
  return stage_of(subject, i).name == "top_k" && stage_of(subject, i).number("k", 1) > 1 &&
         !subject.has({"min_p"});
}

bool seeds_by_zero(const LintSubject& subject, size_t i) {
  return subject.config().sampling.seed == 0 && stage_of(subject, i).is_one_of(kDrawStages) &&
         stage_of(subject, i).name != "greedy";
}

}  // namespace

std::vector<LintRule> sampling_lint_rules() {
  return {
      {"gauge-dependent-penalty", kWarning, is_gauge_dependent, nullptr,
       "the picks then depend on a constant added to all logits, which no distribution shows: at "
       "theta 1.3 it changes four in ten tokens of a greedy text; mode ship refuses it",
       "presence: {strength: 0.5}, or rule: ctrl_normalised",
       "sampling: {stages: [{repetition: {theta: 1.3, rule: ctrl_sign}}, cdf]}",
       "sampling: {stages: [{repetition: {theta: 1.3, rule: ctrl_normalised}}, cdf]}"},
      {"penalised-control-tokens", kWarning, penalises_control_tokens, nullptr,
       "a token that ends the answer becomes less likely with each turn, so that answers run on",
       "leave control_tokens out: they are spared",
       "sampling: {stages: [{presence: {strength: 0.5, control_tokens: penalise}}, cdf]}",
       "sampling: {stages: [{presence: {strength: 0.5, control_tokens: spare}}, cdf]}"},
      {"penalised-prompt", kNote, counts_the_prompt, nullptr,
       "words of the question, the template and tools are penalised as if the model had said them",
       "count: generated", "sampling: {stages: [{presence: {strength: 0.5, count: all}}, cdf]}",
       "sampling: {stages: [{presence: {strength: 0.5}}, cdf]}"},
      {"penalty-beyond-use", kWarning, is_beyond_use, nullptr,
       "so strong a penalty forbids the commas and articles that every text repeats",
       "a strength from 0 to 2, a theta from 1 to 1.5",
       "sampling: {stages: [{frequency: {strength: 3}}, cdf]}",
       "sampling: {stages: [{frequency: {strength: 2}}, cdf]}"},
      {"rewarded-repetition", kWarning, rewards, nullptr,
       "what was said becomes more likely, and a loop feeds itself",
       "a strength above 0, a theta above 1",
       "sampling: {stages: [{presence: {strength: -0.5}}, cdf]}",
       "sampling: {stages: [{presence: {strength: 0.5}}, cdf]}"},
      {"idle-stage", kNote, nullptr, idle_stages,
       "the stage changes nothing, for every row of logits", "leave it out",
       "sampling: {stages: [{top_p: {p: 1}}, cdf]}",
       "sampling: {stages: [{top_p: {p: 0.95}}, cdf]}"},
      {"truncation-to-one", kWarning, leaves_hardly_any, nullptr,
       "mostly one candidate is left, so the coin decides nothing", "greedy as the only stage",
       "sampling: {stages: [{top_p: {p: 0.01}}, cdf]}",
       "sampling: {stages: [{top_p: {p: 0.1}}, cdf]}"},
      {"heat-without-truncation", kWarning, is_hot_alone, nullptr,
       "a temperature above 1.2 gives the many thousand unlikely tokens a large share together",
       "min_p: {p: 0.1} in front of it", "sampling: {stages: [{temperature: {t: 1.5}}, cdf]}",
       "sampling: {stages: [{min_p: {p: 0.1}}, {temperature: {t: 1.5}}, cdf]}"},
      {"top-k-without-min-p", kWarning, is_top_k_alone, nullptr,
       "k is the same where the model is sure and where it is not: it keeps nonsense in one place "
       "and cuts good words in the other",
       "min_p: {p: 0.05} behind it, or in its place", "sampling: {stages: [{top_k: {k: 40}}, cdf]}",
       "sampling: {stages: [{top_k: {k: 40}}, {min_p: {p: 0.05}}, cdf]}"},
      {"seed-zero", kNote, seeds_by_zero, nullptr,
       "other engines take a seed of 0 for any seed, so a comparison would differ at every draw",
       "sampling.seed: 1", "sampling: {seed: 0, stages: [cdf]}",
       "sampling: {seed: 1, stages: [cdf]}"},
  };
}

}  // namespace plumbline::pipeline
