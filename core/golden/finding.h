// finding.h: what one comparison of many saw: the common shape of golden verification and of the
// protocol's stages.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/diff/report.h"

namespace plumbline::golden {

struct Finding {
  std::string what = {};  // "capital: first-step logits"
  bool was_compared = true;
  std::string statement = {};  // what was seen; or why nothing was compared
  uint64_t n = 0;  // values that were compared
  std::vector<std::pair<std::string, double>> numbers = {};  // in order, by their names in JSON
  diff::Verdict verdict = diff::Verdict::kMatch;
};

inline Finding not_compared(std::string what, std::string why) {
  return {std::move(what), false, std::move(why)};
}

struct Summary {
  diff::Verdict verdict = diff::Verdict::kMatch;  // the worst
  uint64_t n_compared = 0, n_not_compared = 0;  // findings
};
Summary summary(const std::vector<Finding>& findings);

}  // namespace plumbline::golden
