// doctor.h: the smallest prompt, "test", through every stage, and what is wrong with it by name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/pipeline/pipeline.h"

namespace plumbline::pipeline {

struct Finding {
  std::string name;  // one of core/doc/doctor.md
  bool is_fault = true;  // else worth knowing, and no reason to fail
  std::string message;
};

struct Examination {
  Prompt prompt;
  std::vector<int32_t> ids;
  std::string answer;
  std::optional<RoleForgery> role_forgery;  // empty: there is no template
  std::vector<Finding> findings;
  std::vector<std::string> skipped;  // what could not be looked at, and why

  bool is_healthy() const;
};

/// Never fails: a stage that does is a finding of its own ("template", "tokenizer", "model"), and
/// those behind it are skipped.
Examination examine(Pipeline& pipeline);

}  // namespace plumbline::pipeline
