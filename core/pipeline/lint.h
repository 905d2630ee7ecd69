// lint.h: what a config may say, and had better not. The rules: core/doc/lint.md.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/load.h"

namespace plumbline::pipeline {

class LintSubject;

enum class LintLevel { kNote, kWarning };

/// A value of the config in which a rule found something.
struct LintHit {
  const config::Value* value;
  std::string path;  // "sampling.stages.1"
  std::string seen;
};

/// One line of the table. It looks at stages one by one, or anywhere in the config.
struct LintRule {
  std::string_view name;
  LintLevel level;
  bool (*applies)(const LintSubject& subject, size_t stage);
  std::vector<LintHit> (*find)(const LintSubject& subject);
  std::string_view why;
  std::string_view instead;
  // What the rule finds something in, and what is close to it and right: YAML to be laid over a
  // config that says no more than its model.
  std::string_view example;
  std::string_view near_miss;
};

/// All of them.
const std::vector<LintRule>& lint_rules();

struct LintFinding {
  const LintRule* rule;
  LintHit hit;

  /// "a.yaml:3:5"
  std::string place() const { return hit.value->origin.text(); }
};

/// Warnings first, else in the order of the rules; the findings borrow from the config. Never
/// fails: parameters of the wrong type are for their stage to refuse.
std::vector<LintFinding> lint(const config::ResolvedConfig& config);

}  // namespace plumbline::pipeline
