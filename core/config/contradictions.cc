// contradictions.cc: values that are right each by itself, but not together.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/config/check.h"
#include "core/config/pipeline_config.h"
#include "core/config/scalars.h"

namespace plumbline::config {
namespace {

std::string quoted_at(const Value& tree, std::string_view path) {
  return std::string(path) + " " + tree.at(path)->shown();
}

// A path and what it is pinned by, in the map that `where` names.
void check_pin(const Value& map, const std::string& where, bool is_ship, Problems& problems) {
  const Value* path = map.find("path");
  const Value* sha256 = map.find("sha256");
  if (sha256 != nullptr && path == nullptr) {
    problems.add(sha256->origin,
                 where + ".sha256 without " + where + ".path, which is what it pins");
  }
  if (is_ship && path != nullptr && sha256 == nullptr) {
    problems.add(path->origin, where + ".path without sha256, which mode ship expects");
  }
}

void check_files(const Value& tree, bool is_ship, Problems& problems) {
  const Value& source = *tree.at("model.source");
  if (source.find("package") == nullptr && source.find("path") == nullptr) {
    problems.add(source.origin, "no model.source, expected package or path");
  }
  for (const char* where : {"model.source", "tokenizer", "template"})
    check_pin(*tree.at(where), where, is_ship, problems);
}

void check_overrides(const Value& overrides, Problems& problems) {
  for (size_t i = 0; i < overrides.items.size(); ++i) {
    const Value& later = overrides.items[i];
    const LayerRange layers = *as_layers(later.find("layers")->text);
    for (size_t k = 0; k < i; ++k) {
      const Value& earlier = overrides.items[k];
      const LayerRange others = *as_layers(earlier.find("layers")->text);
      if (earlier.find("op")->text != later.find("op")->text || layers.first > others.last ||
          others.first > layers.last) {
        continue;
      }
      problems.add(later.origin, "kernels.overrides." + std::to_string(i) + ": op " +
                                     later.find("op")->shown() + ", layer " +
                                     std::to_string(std::max(layers.first, others.first)) +
                                     ", is already given to " + earlier.find("backend")->shown() +
                                     " at " + earlier.origin.text());
      break;
    }
  }
}

/// A penalty whose effect depends on a constant that no distribution shows, or one that can
/// suppress the end of an answer.
void check_gauge(const Value& stage, const std::string& where, Problems& problems) {
  for (const Entry& entry : stage.entries) {
    const Value* rule = entry.value.find("rule");
    const Value* theta = entry.value.find("theta");
    if (entry.key == "repetition" && rule != nullptr && rule->text == "ctrl_sign" &&
        theta != nullptr && as_json(*theta) != nlohmann::json(1)) {
      problems.add(rule->origin,
                   where + ".repetition.rule \"ctrl_sign\" with theta " + theta->shown() +
                       ", which mode ship refuses: expected ctrl_normalised, or theta "
                       "1");
    }
    const Value* control = entry.value.find("control_tokens");
    if (control != nullptr && control->text == "penalise") {
      problems.add(control->origin,
                   where + "." + entry.key +
                       ".control_tokens \"penalise\", which mode ship refuses: expected spare");
    }
  }
}

void check_stages(const Value& stages, bool is_ship, Problems& problems) {
  if (stages.items.empty())
    problems.add(stages.origin, "sampling.stages: an empty list, expected at least one stage");
  for (size_t i = 0; i < stages.items.size(); ++i) {
    const Value& stage = stages.items[i];
    if (is_ship) check_gauge(stage, "sampling.stages." + std::to_string(i), problems);
    if (is_ship && (stage.text == "scripted" || stage.find("scripted") != nullptr)) {
      problems.add(stage.origin, "sampling.stages." + std::to_string(i) +
                                     ": stage \"scripted\", which mode ship refuses");
    }
  }
}

// Of two values that contradict each other, the one that somebody wrote.
const Origin& written(const Value& tree, std::string_view first, std::string_view second) {
  const Origin& origin = tree.at(first)->origin;
  return origin.line != 0 ? origin : tree.at(second)->origin;
}

void check_context(const Value& tree, Problems& problems) {
  const std::string& policy = tree.at("context.policy")->text;
  const auto length = as_integer(*tree.at("context.length"));
  const uint64_t reserve = *as_integer(*tree.at("context.reserve_output"));
  if (length && reserve >= *length) {
    problems.add(written(tree, "context.reserve_output", "context.length"),
                 quoted_at(tree, "context.reserve_output") + " leaves no room for a prompt in " +
                     quoted_at(tree, "context.length"));
  }
  const auto sinks = as_integer(*tree.at("context.sinks"));
  if (sinks && policy != "sink_ring") {
    problems.add(written(tree, "context.sinks", "context.policy"),
                 quoted_at(tree, "context.sinks") + " beside " + quoted_at(tree, "context.policy") +
                     ", expected policy sink_ring, or auto");
  }
  if (sinks && length && *sinks >= *length) {
    problems.add(written(tree, "context.sinks", "context.length"),
                 quoted_at(tree, "context.sinks") + " leaves no room for later tokens in " +
                     quoted_at(tree, "context.length"));
  }
  const auto evict_to = as_integer(*tree.at("context.evict_to"));
  if (!evict_to) return;
  if (policy == "full") {
    problems.add(written(tree, "context.evict_to", "context.policy"),
                 quoted_at(tree, "context.evict_to") + " beside " +
                     quoted_at(tree, "context.policy") + ", which drops nothing; expected auto");
  }
  const uint64_t kept_free = std::min(reserve, *as_integer(*tree.at("generation.max_tokens")));
  if (length && *evict_to + kept_free >= *length) {
    problems.add(written(tree, "context.evict_to", "context.length"),
                 quoted_at(tree, "context.evict_to") + " and " + std::to_string(kept_free) +
                     " tokens for the answer, expected fewer than " +
                     quoted_at(tree, "context.length"));
  }
  if (policy == "sink_ring" && *evict_to <= sinks.value_or(kDefaultSinks)) {
    problems.add(written(tree, "context.evict_to", "context.sinks"),
                 quoted_at(tree, "context.evict_to") + ", expected more than the " +
                     std::to_string(sinks.value_or(kDefaultSinks)) + " of context.sinks");
  }
}

void check_generation(const Value& tree, bool is_ship, Problems& problems) {
  const Value& tails = *tree.at("generation.stop_tails");
  for (size_t i = 0; i < tails.items.size(); ++i) {
    if (!tails.items[i].items.empty()) continue;
    problems.add(tails.items[i].origin, "generation.stop_tails." + std::to_string(i) +
                                            ": an empty list, expected at least one token id");
  }
  const Value& ignore_end = *tree.at("generation.ignore_end");
  if (is_ship && ignore_end.text == "true") {
    problems.add(ignore_end.origin, "generation.ignore_end \"true\", expected false in mode ship");
  }
  // Two engines that each take any seed differ at every draw.
  const Value& seed = *tree.at("sampling.seed");
  const Value& stages = *tree.at("sampling.stages");
  const bool is_diff =
      !stages.items.empty() && stages.items.front().origin.preset.starts_with("diff-");
  if (is_diff && *as_integer(seed) == 0) {
    problems.add(seed.origin, "sampling.seed \"0\" with the profile " +
                                  stages.items.front().origin.preset +
                                  ": other engines take 0 for any seed, expected 1 or more");
  }
}

}  // namespace

void check_contradictions(const Value& tree, Problems& problems) {
  const bool is_ship = tree.at("mode")->text == "ship";
  check_files(tree, is_ship, problems);
  check_overrides(*tree.at("kernels.overrides"), problems);
  check_stages(*tree.at("sampling.stages"), is_ship, problems);
  const Value& undefined = *tree.at("template.undefined");
  if (is_ship && undefined.text == "hf") {
    problems.add(
        undefined.origin,
        "template.undefined \"hf\" is lenient, expected strict or semi_strict in mode ship");
  }
  const Value& runner = *tree.at("runner.name");
  if (is_ship && runner.text != "none") {
    problems.add(runner.origin, "runner.name " + runner.shown() +
                                    ", an engine outside this config, expected none in mode ship");
  }
  check_context(tree, problems);
  check_generation(tree, is_ship, problems);
}

}  // namespace plumbline::config
