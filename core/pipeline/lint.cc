#include "core/pipeline/lint.h"

#include <cmath>

#include "core/pipeline/lint_subject.h"

namespace plumbline::pipeline {
namespace {

using nlohmann::json;

void add_findings(const LintRule& rule, const LintSubject& subject,
                  std::vector<LintFinding>& findings) {
  if (rule.find != nullptr) {
    for (LintHit& hit : rule.find(subject)) findings.push_back({&rule, std::move(hit)});
    return;
  }
  for (size_t i = 0; i < subject.stages().size(); ++i) {
    if (!rule.applies(subject, i)) continue;
    findings.push_back({&rule, hit_of(subject.stages()[i])});
  }
}

/// Whether the parameters say that the stage is off: it changes no row.
bool is_idle(const LintStage& stage) {
  const struct {
    std::string_view name;
    const char* key;
    double value;
  } off[] = {{"temperature", "t", 1},      {"top_p", "p", 1},
             {"typical", "p", 1},          {"min_p", "p", 0},
             {"top_n_sigma", "n", 0},      {"repetition", "theta", 1},
             {"frequency", "strength", 0}, {"presence", "strength", 0},
             {"dry", "multiplier", 0},     {"xtc", "probability", 0}};
  return std::any_of(std::begin(off), std::end(off), [&](const auto& one) {
    return stage.name == one.name && stage.number(one.key, NAN) == one.value;
  });
}

}  // namespace

LintHit hit_of(const LintStage& stage) {
  const std::string parameters = stage.parameters.empty() ? "" : " " + stage.parameters.dump();
  return {stage.value, stage.path, stage.name + parameters};
}

double LintStage::number(const char* key, double fallback) const {
  const auto at = parameters.find(key);
  return at != parameters.end() && at->is_number() ? at->get<double>() : fallback;
}

std::string LintStage::text(const char* key, const char* fallback) const {
  const auto at = parameters.find(key);
  return at != parameters.end() && at->is_string() ? at->get<std::string>() : fallback;
}

LintSubject::LintSubject(const config::ResolvedConfig& config) : config_(config) {
  const auto& stages = config.config.sampling.stages;
  const std::string path = "sampling.stages";
  for (size_t i = 0; i < stages.size(); ++i) {
    LintStage stage{stages[i].stage, json::parse(stages[i].params_json), &at(path).items[i],
                    path + "." + std::to_string(i)};
    (is_idle(stage) ? idle_stages_ : stages_).push_back(std::move(stage));
  }
}

bool LintSubject::has_before(size_t end, std::initializer_list<std::string_view> names) const {
  return std::any_of(stages_.begin(), stages_.begin() + static_cast<int64_t>(end),
                     [&](const LintStage& stage) { return stage.is_one_of(names); });
}

bool LintSubject::has_behind(size_t begin, std::initializer_list<std::string_view> names) const {
  return std::any_of(stages_.begin() + static_cast<int64_t>(begin) + 1, stages_.end(),
                     [&](const LintStage& stage) { return stage.is_one_of(names); });
}

bool is_written(const config::Value& value) {
  if (value.kind == config::Value::Kind::kMap && !value.entries.empty()) {
    return std::any_of(value.entries.begin(), value.entries.end(),
                       [](const config::Entry& entry) { return is_written(entry.value); });
  }
  return value.origin.source != nullptr && *value.origin.source != "default";
}

const std::vector<LintRule>& lint_rules() {
  static const std::vector<LintRule> rules = [] {
    std::vector<LintRule> all;
    for (auto& some : {sampling_lint_rules(), order_lint_rules(), generation_lint_rules()})
      all.insert(all.end(), some.begin(), some.end());
    return all;
  }();
  return rules;
}

std::vector<LintFinding> lint(const config::ResolvedConfig& config) {
  const LintSubject subject(config);
  std::vector<LintFinding> findings;
  for (const LintRule& rule : lint_rules()) add_findings(rule, subject, findings);
  std::stable_sort(findings.begin(), findings.end(),
                   [](const auto& a, const auto& b) { return a.rule->level > b.rule->level; });
  return findings;
}

}  // namespace plumbline::pipeline
