#include <algorithm>

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

}  // namespace

const std::vector<SamplingMutant>& sampling_mutants() {
  static const std::vector<SamplingMutant> kMutants = {
      {"temperature_before_truncation", "first",
       [](SamplingConfig& sampling) {
         const auto heat = find(sampling, "temperature");
         if (heat == sampling.stages.end() || heat == sampling.stages.begin()) return false;
         std::rotate(sampling.stages.begin(), heat, heat + 1);
         return true;
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
         if (draw.stage == "greedy") return false;
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
