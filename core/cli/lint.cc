// lint: what a config may say, and had better not.
#include "core/pipeline/lint.h"

#include <memory>

#include "core/cli/session.h"
#include "core/cli/verbs.h"

namespace plumbline::cli {
namespace {

using pipeline::LintFinding;
using pipeline::LintLevel;
using pipeline::LintRule;
using pipeline::OrderedJson;

struct LintOptions {
  PipelineOptions pipeline;
  bool json = false;
  bool rules = false;
};

const char* level_name(LintLevel level) {
  return level == LintLevel::kWarning ? "warning" : "note";
}

size_t count_of(const std::vector<LintFinding>& findings, LintLevel level) {
  return static_cast<size_t>(
      std::count_if(findings.begin(), findings.end(),
                    [level](const LintFinding& one) { return one.rule->level == level; }));
}

OrderedJson to_json(const LintRule& rule) {
  return {{"rule", rule.name},
          {"level", level_name(rule.level)},
          {"why", rule.why},
          {"instead", rule.instead}};
}

OrderedJson to_json(const std::vector<LintFinding>& findings) {
  OrderedJson list = OrderedJson::array();
  for (const LintFinding& finding : findings) {
    OrderedJson one = to_json(*finding.rule);
    one["where"] = finding.place();
    one["key"] = finding.hit.path;
    one["seen"] = finding.hit.seen;
    list.push_back(std::move(one));
  }
  return {{"n_warnings", count_of(findings, LintLevel::kWarning)},
          {"n_notes", count_of(findings, LintLevel::kNote)},
          {"findings", std::move(list)}};
}

std::string as_text(const std::vector<LintFinding>& findings) {
  std::string text;
  for (const LintFinding& finding : findings) {
    const LintRule& rule = *finding.rule;
    text += finding.place() + ": " + level_name(rule.level) + ": " + std::string(rule.name) + ": " +
            printable(finding.hit.seen) + "\n  why: " + std::string(rule.why) +
            "\n  instead: " + std::string(rule.instead) + "\n";
  }
  return text;
}

int show_rules(bool json) {
  OrderedJson list = OrderedJson::array();
  std::string text;
  for (const LintRule& rule : pipeline::lint_rules()) {
    OrderedJson one = to_json(rule);
    one["example"] = rule.example;
    one["near_miss"] = rule.near_miss;
    list.push_back(std::move(one));
    text += std::string(rule.name) + " (" + level_name(rule.level) +
            ")\n  why: " + std::string(rule.why) + "\n  instead: " + std::string(rule.instead) +
            "\n";
  }
  if (json) {
    print_json(list);
  } else {
    print(text);
  }
  return kDone;
}

int run_lint(LintOptions& options) {
  if (options.rules) return show_rules(options.json);
  Session session(options.pipeline);
  const std::vector<LintFinding> findings = pipeline::lint(session.config());
  if (options.json) {
    print_json(to_json(findings));
  } else {
    print(as_text(findings));
    if (findings.empty()) note("nothing found");
  }
  return count_of(findings, LintLevel::kWarning) == 0 ? kDone : kDifference;
}

}  // namespace

void add_lint(CLI::App& app, int& exit) {
  auto options = std::make_shared<LintOptions>();
  CLI::App* verb = app.add_subcommand("lint", "Say what a config had better not say, and why");
  options->pipeline.add_to(*verb);
  verb->add_flag("--json", options->json, "As JSON");
  verb->add_flag("--rules", options->rules, "List the rules instead of looking at a config");
  verb->footer(
      "Exit code 1: at least one warning; notes alone are no reason to fail. core/doc/lint.md "
      "explains the rules.\n"
      "Examples:\n"
      "  plumb lint my.yaml\n"
      "  plumb lint --set sampling.profile=hf --json");
  verb->callback([options, &exit] { exit = run_lint(*options); });
}

}  // namespace plumbline::cli
