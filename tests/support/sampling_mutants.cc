#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/support/mutants.h"

namespace plumbline::test {
namespace {

using config::SamplingConfig;
using config::StageConfig;

std::vector<StageConfig>::iterator find(SamplingConfig& sampling, const std::string& stage) {
  return std::ranges::find_if(sampling.stages,
                              [&](const StageConfig& one) { return one.stage == stage; });
}

bool is_truncation(const StageConfig& stage) {
  return stage.stage == "top_k" || stage.stage == "top_p" || stage.stage == "min_p";
}

bool is_penalty(const StageConfig& stage) {
  return stage.stage == "frequency" || stage.stage == "presence" || stage.stage == "repetition";
}

/// A parameter of the first stage of a name set to a word that it does not have.
bool set_word(SamplingConfig& sampling, const char* stage, const char* key, const char* word,
              const char* standard) {
  const auto found = find(sampling, stage);
  if (found == sampling.stages.end()) return false;
  auto params = nlohmann::json::parse(found->params_json);
  if (params.value(key, standard) == word) return false;
  params[key] = word;
  found->params_json = params.dump();
  return true;
}

/// The first stage of these names, from the library that breaks it.
bool break_stage(SamplingConfig& sampling, std::initializer_list<const char*> stages,
                 const char* fault) {
  for (StageConfig& one : sampling.stages) {
    if (std::find(stages.begin(), stages.end(), one.stage) == stages.end()) continue;
    auto params = nlohmann::json::parse(one.params_json);
    params["fault"] = fault;
    one.params_json = params.dump();
    one.plugin = "plumb.samplers.fault";
    return true;
  }
  return false;
}

}  // namespace

const std::vector<SamplingMutant>& sampling_mutants() {
  static const std::vector<SamplingMutant> kMutants = {
      {"temperature_before_truncation", "first",
       [](SamplingConfig& sampling) {
         const auto heat = find(sampling, "temperature");
         if (heat == sampling.stages.end() ||
             std::none_of(sampling.stages.begin(), heat, is_truncation))
           return false;
         std::rotate(sampling.stages.begin(), heat, heat + 1);
         return true;
       }},
      {"temperature_behind_truncation", "behind the last one",
       [](SamplingConfig& sampling) {
         const auto heat = find(sampling, "temperature");
         if (heat == sampling.stages.end() || !is_truncation(heat[1])) return false;
         std::rotate(heat, heat + 1,
                     std::find_if_not(heat + 1, sampling.stages.end(), is_truncation));
         return true;
       }},
      {"penalty_behind_truncation", "the first, behind the first truncation",
       [](SamplingConfig& sampling) {
         const auto first = std::ranges::find_if(sampling.stages, is_penalty);
         const auto cut = std::find_if(first, sampling.stages.end(), is_truncation);
         if (cut == sampling.stages.end()) return false;
         std::rotate(first, first + 1, cut + 1);
         return true;
       }},
      {"control_tokens_penalised", "frequency",
       [](SamplingConfig& sampling) {
         return set_word(sampling, "frequency", "control_tokens", "penalise", "spare");
       }},
      {"control_tokens_penalised", "a library that does not ask",
       [](SamplingConfig& sampling) {
         return break_stage(sampling, {"frequency", "presence", "repetition"}, "control_tokens");
       }},
      {"prompt_counted", "frequency",
       [](SamplingConfig& sampling) {
         return set_word(sampling, "frequency", "count", "all", "generated");
       }},
      {"prompt_not_counted", "repetition, in a library that counts what it generated",
       [](SamplingConfig& sampling) { return break_stage(sampling, {"repetition"}, "no_prompt"); }},
      {"repetition_by_sign", "ctrl_sign",
       [](SamplingConfig& sampling) {
         return set_word(sampling, "repetition", "rule", "ctrl_sign", "ctrl_normalised");
       }},
      {"top_k_keeps_ties", "ties",
       [](SamplingConfig& sampling) {
         return set_word(sampling, "top_k", "ties", "all", "exact");
       }},
      {"min_p_on_logits", "a library that forgot the softmax",
       [](SamplingConfig& sampling) { return break_stage(sampling, {"min_p"}, "on_logits"); }},
      {"min_p_absolute", "a library that forgot the best one",
       [](SamplingConfig& sampling) { return break_stage(sampling, {"min_p"}, "absolute"); }},
      {"top_p_without_crossing", "a library that stops too early",
       [](SamplingConfig& sampling) {
         return break_stage(sampling, {"top_p"}, "without_crossing");
       }},
      {"coin_reused", "a library that does not count steps",
       [](SamplingConfig& sampling) {
         return break_stage(sampling, {"cdf", "gumbel"}, "same_coin");
       }},
      {"coin_keyed_differently", "a library that counts from one",
       [](SamplingConfig& sampling) {
         return break_stage(sampling, {"cdf", "gumbel"}, "next_coin");
       }},
      {"generator_changed", "xorshift64 for Philox",
       [](SamplingConfig& sampling) {
         StageConfig& draw = sampling.stages.back();
         if (draw.stage != "cdf") return false;
         draw.stage = "xorshift64";
         return true;
       }},
      {"state_lost", "mirostat that begins anew",
       [](SamplingConfig& sampling) { return break_stage(sampling, {"mirostat_v2"}, "forgets"); }},
      {"coin_reused", "a generator that is seeded at each pick",
       [](SamplingConfig& sampling) { return break_stage(sampling, {"xorshift64"}, "forgets"); }},
      {"tie_break_changed", "the last of equals",
       [](SamplingConfig& sampling) {
         return break_stage(sampling, {"greedy"}, "last_of_equals");
       }},
      {"stage_order_changed", "the first two truncations",
       [](SamplingConfig& sampling) {
         const auto first = std::ranges::find_if(sampling.stages, is_truncation);
         if (first == sampling.stages.end() || first + 1 == sampling.stages.end() ||
             !is_truncation(first[1]))
           return false;
         std::iter_swap(first, first + 1);
         return true;
       }},
      {"stage_missing", "a truncation",
       [](SamplingConfig& sampling) {
         const auto first = std::ranges::find_if(sampling.stages, is_truncation);
         if (first == sampling.stages.end()) return false;
         sampling.stages.erase(first);
         return true;
       }},
      {"stage_missing", "temperature",
       [](SamplingConfig& sampling) {
         const auto heat = find(sampling, "temperature");
         if (heat == sampling.stages.end()) return false;
         sampling.stages.erase(heat);
         return true;
       }},
      {"stage_added", "top_k",
       [](SamplingConfig& sampling) {
         if (find(sampling, "top_k") != sampling.stages.end()) return false;
         sampling.stages.insert(sampling.stages.begin(), {"top_k", config::kAuto, R"({"k": 3})"});
         return true;
       }},
      {"parameter_changed", "temperature",
       [](SamplingConfig& sampling) {
         const auto heat = find(sampling, "temperature");
         if (heat == sampling.stages.end()) return false;
         heat->params_json = R"({"t": 1.7})";
         return true;
       }},
      {"parameter_changed", "a truncation",
       [](SamplingConfig& sampling) {
         const auto first = std::ranges::find_if(sampling.stages, is_truncation);
         if (first == sampling.stages.end()) return false;
         first->params_json = first->stage == "top_k" ? R"({"k": 2})" : R"({"p": 0.33})";
         return true;
       }},
      {"draw_changed", "gumbel and cdf",
       [](SamplingConfig& sampling) {
         StageConfig& draw = sampling.stages.back();
         if (draw.stage != "cdf" && draw.stage != "gumbel") return false;
         draw.stage = draw.stage == "cdf" ? "gumbel" : "cdf";
         return true;
       }},
      {"draw_changed", "greedy",
       [](SamplingConfig& sampling) {
         StageConfig& draw = sampling.stages.back();
         if (draw.stage == "greedy") return false;
         draw = {"greedy", config::kAuto, "{}"};
         return true;
       }},
      {"seed_changed", "one more",
       [](SamplingConfig& sampling) {
         if (sampling.stages.back().stage == "greedy") return false;
         ++sampling.seed;
         return true;
       }},
  };
  return kMutants;
}

}  // namespace plumbline::test
