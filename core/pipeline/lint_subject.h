// lint_subject.h: a config as the rules of lint see it.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/pipeline/lint.h"

namespace plumbline::pipeline {

struct LintStage {
  std::string name;
  nlohmann::json parameters;
  const config::Value* value;
  std::string path;

  /// The parameter, or the fallback where it is absent or of another type.
  double number(const char* key, double fallback) const;
  std::string text(const char* key, const char* fallback) const;
  bool is_one_of(std::initializer_list<std::string_view> names) const {
    return std::find(names.begin(), names.end(), name) != names.end();
  }
};

class LintSubject {
 public:
  explicit LintSubject(const config::ResolvedConfig& config);

  const config::PipelineConfig& config() const { return config_.config; }
  const config::Value& at(std::string_view path) const { return *config_.tree.at(path); }
  /// Those that do something, in order.
  const std::vector<LintStage>& stages() const { return stages_; }
  /// Those whose parameters say that they are off.
  const std::vector<LintStage>& idle_stages() const { return idle_stages_; }

  /// Whether one of the stages before `end` is of these names.
  bool has_before(size_t end, std::initializer_list<std::string_view> names) const;
  bool has(std::initializer_list<std::string_view> names) const {
    return has_before(stages_.size(), names);
  }
  /// Whether one of the stages behind `begin` is.
  bool has_behind(size_t begin, std::initializer_list<std::string_view> names) const;

 private:
  const config::ResolvedConfig& config_;
  std::vector<LintStage> stages_, idle_stages_;
};

inline const LintStage& stage_of(const LintSubject& subject, size_t i) {
  return subject.stages()[i];
}
LintHit hit_of(const LintStage& stage);

/// Whether a value, or a part of it, is no default.
bool is_written(const config::Value& value);

std::vector<LintRule> sampling_lint_rules();
std::vector<LintRule> order_lint_rules();
std::vector<LintRule> generation_lint_rules();

}  // namespace plumbline::pipeline
