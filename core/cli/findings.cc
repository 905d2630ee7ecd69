#include "core/cli/findings.h"

#include <cmath>

namespace plumbline::cli {

using diff::Verdict;
using pipeline::OrderedJson;

std::string verdict_text(const golden::Finding& finding) {
  return finding.was_compared ? diff::verdict_name(finding.verdict) : "NOT RUN";
}

std::string findings_table(const std::vector<golden::Finding>& findings) {
  size_t width = 0;
  for (const golden::Finding& finding : findings) width = std::max(width, finding.what.size());
  std::string table;
  for (const golden::Finding& finding : findings) {
    table += padded(verdict_text(finding), 13) + padded(printable(finding.what), width + 2) +
             printable(finding.statement) + "\n";
  }
  return table;
}

OrderedJson to_json(const golden::Finding& finding) {
  OrderedJson numbers = OrderedJson::object();
  // JSON has no infinity.
  for (const auto& [name, value] : finding.numbers)
    numbers[name] = std::isfinite(value) ? OrderedJson(value) : OrderedJson();
  return {{"what", finding.what},
          {"verdict", verdict_text(finding)},
          {"n", finding.n},
          {"statement", finding.statement},
          {"numbers", std::move(numbers)}};
}

OrderedJson to_json(const std::vector<golden::Finding>& findings) {
  OrderedJson list = OrderedJson::array();
  for (const golden::Finding& finding : findings) list.push_back(to_json(finding));
  return list;
}

int exit_of(const golden::Summary& summary, bool is_strict) {
  if (summary.n_compared == 0) return kNothingDone;
  const Verdict worst_accepted = is_strict ? Verdict::kMatch : Verdict::kTieFlip;
  return summary.verdict <= worst_accepted ? kDone : kDifference;
}

}  // namespace plumbline::cli
