// lint_order.cc: rules on the order of stages. Sources: core/doc/lint.md.
#include "core/pipeline/lint_subject.h"
#include "core/pipeline/sampler_chain.h"

namespace plumbline::pipeline {
namespace {

constexpr auto kNote = LintLevel::kNote;
constexpr auto kWarning = LintLevel::kWarning;

const std::initializer_list<std::string_view> kTruncations = {"top_k", "top_p", "min_p", "typical",
                                                              "top_n_sigma"};
const std::initializer_list<std::string_view> kPenalties = {"frequency", "presence", "repetition",
                                                            "dry"};

bool is_behind_a_draw(const LintSubject& subject, size_t i) {
  return subject.has_before(i, kDrawStages);
}

/// A stage that this list does not know may draw.
bool is_last_without_draw(const LintSubject& subject, size_t i) {
  return i + 1 == subject.stages().size() && !subject.has(kDrawStages) &&
         (stage_of(subject, i).is_one_of(kTruncations) ||
          stage_of(subject, i).is_one_of(kPenalties) ||
          stage_of(subject, i)
              .is_one_of({"temperature", "dynamic_temperature", "xtc", "cap", "logit_bias",
                          "grammar_mask"}));
}

bool is_temperature_first(const LintSubject& subject, size_t i) {
  const LintStage& stage = stage_of(subject, i);
  return (stage.name == "dynamic_temperature" ||
          (stage.name == "temperature" && stage.number("t", 1) != 1)) &&
         subject.has_behind(i, {"top_p", "min_p", "typical", "xtc"});
}

bool is_penalty_behind_truncation(const LintSubject& subject, size_t i) {
  return stage_of(subject, i).is_one_of(kPenalties) &&
         (subject.has_before(i, kTruncations) ||
          subject.has_before(i, {"temperature", "dynamic_temperature"}));
}

bool is_xtc_before_truncation(const LintSubject& subject, size_t i) {
  return stage_of(subject, i).name == "xtc" && subject.has_behind(i, kTruncations);
}

bool is_typical_of_few(const LintSubject& subject, size_t i) {
  if (stage_of(subject, i).name != "typical") return false;
  for (size_t before = 0; before < i; ++before) {
    const LintStage& stage = stage_of(subject, before);
    if (stage.name == "top_k" && stage.number("k", 1000) < 100) return true;
  }
  return false;
}

bool is_typical_without_cap(const LintSubject& subject, size_t i) {
  return stage_of(subject, i).name == "typical" && !subject.has({"cap"});
}

bool is_idle_before_greedy(const LintSubject& subject, size_t i) {
  const auto& stages = subject.stages();
  const auto draw = std::find_if(stages.begin(), stages.end(), [](const LintStage& stage) {
    return stage.is_one_of(kDrawStages);
  });
  return draw != stages.end() && draw->name == "greedy" && !subject.has({"xtc", "typical"}) &&
         stage_of(subject, i)
             .is_one_of({"temperature", "dynamic_temperature", "top_k", "top_p", "min_p",
                         "top_n_sigma", "cap"});
}

bool is_mirostat_of_a_part(const LintSubject& subject, size_t i) {
  return stage_of(subject, i).name == "mirostat_v2" &&
         (subject.has_before(i, kTruncations) || subject.has_before(i, {"xtc"}));
}

bool is_repeated(const LintSubject& subject, size_t i) {
  const LintStage& stage = stage_of(subject, i);
  return !stage.is_one_of({"scripted", "logit_bias"}) && !stage.is_one_of(kDrawStages) &&
         subject.has_before(i, {stage.name});
}

}  // namespace

std::vector<LintRule> order_lint_rules() {
  return {
      {"stage-behind-a-draw", kWarning, is_behind_a_draw, nullptr,
       "the token is picked already: the stage can change nothing", "the draw as the last stage",
       "sampling: {stages: [cdf, {min_p: {p: 0.1}}]}",
       "sampling: {stages: [{min_p: {p: 0.1}}, cdf]}"},
      {"no-draw", kWarning, is_last_without_draw, nullptr,
       "no stage picks a token, so the first one fails", "draw, or greedy, as the last stage",
       "sampling: {stages: [{min_p: {p: 0.1}}]}", "sampling: {stages: [{min_p: {p: 0.1}}, draw]}"},
      {"temperature-before-threshold", kNote, is_temperature_first, nullptr,
       "what a threshold keeps then moves with the temperature: the same number means another set "
       "at each",
       "the temperature behind the truncations",
       "sampling: {stages: [{temperature: {t: 0.7}}, {min_p: {p: 0.1}}, cdf]}",
       "sampling: {stages: [{temperature: {t: 0.7}}, {top_k: {k: 40}}, {top_n_sigma: {n: 1}}, "
       "cdf]}"},
      {"penalty-behind-truncation", kWarning, is_penalty_behind_truncation, nullptr,
       "what the penalised token kept out is gone already, and a temperature scales the penalty",
       "penalties first, then truncations, then the temperature",
       "sampling: {stages: [{min_p: {p: 0.1}}, {presence: {strength: 0.5}}, cdf]}",
       "sampling: {stages: [{presence: {strength: 0.5}}, {min_p: {p: 0.1}}, cdf]}"},
      {"xtc-before-truncation", kWarning, is_xtc_before_truncation, nullptr,
       "xtc takes the best away, and the later thresholds, relative to the best, let the tail in",
       "xtc behind the truncations",
       "sampling: {stages: [{xtc: {probability: 0.5}}, {min_p: {p: 0.05}}, cdf]}",
       "sampling: {stages: [{min_p: {p: 0.05}}, {xtc: {probability: 0.5}}, cdf]}"},
      {"typical-of-few", kWarning, is_typical_of_few, nullptr,
       "the entropy of fewer than a hundred tokens is not the model's: which tokens are typical "
       "then depends on k",
       "typical before top_k",
       "sampling: {stages: [{top_k: {k: 20}}, {typical: {p: 0.9}}, {min_p: {p: 0.05}}, cdf]}",
       "sampling: {stages: [{typical: {p: 0.9}}, {top_k: {k: 20}}, {min_p: {p: 0.05}}, cdf]}"},
      {"typical-without-cap", kNote, is_typical_without_cap, nullptr,
       "where the model is unsure it keeps thousands of tokens, each of them unlikely",
       "cap: {n: 1024} behind it; the diagnostics count where it bites",
       "sampling: {stages: [{typical: {p: 0.9}}, cdf]}",
       "sampling: {stages: [{typical: {p: 0.9}}, {cap: {n: 1024}}, cdf]}"},
      {"idle-before-greedy", kWarning, is_idle_before_greedy, nullptr,
       "greedy takes the largest logit, which this stage never changes",
       "greedy alone, or cdf in its place", "sampling: {stages: [{temperature: {t: 0.7}}, greedy]}",
       "sampling: {stages: [{presence: {strength: 0.5}}, greedy]}"},
      {"mirostat-of-a-part", kWarning, is_mirostat_of_a_part, nullptr,
       "mirostat steers the surprise of the picks by its own truncation; of a part of the "
       "distribution it measures another surprise",
       "mirostat_v2 without other truncations",
       "sampling: {stages: [{top_k: {k: 40}}, {min_p: {p: 0.05}}, {mirostat_v2: {tau: 5}}]}",
       "sampling: {stages: [{temperature: {t: 0.9}}, {mirostat_v2: {tau: 5}}]}"},
      {"repeated-stage", kNote, is_repeated, nullptr,
       "the stage stands there twice, which is mostly a slip", "one of the two",
       "sampling: {stages: [{temperature: {t: 0.9}}, {temperature: {t: 0.9}}, cdf]}",
       "sampling: {stages: [{temperature: {t: 0.9}}, cdf]}"},
  };
}

}  // namespace plumbline::pipeline
