#include "core/report/page_data.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "core/diff/report_json.h"

namespace plumbline::report {
namespace {

using Json = nlohmann::ordered_json;

// Six digits are as many as a colour or a tip can show.
double rounded(double value) {
  if (!std::isfinite(value)) return value;
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return std::strtod(text, nullptr);
}

// The largest of each group of rows that lie in one column of the map. What is no number is larger
// than any.
std::vector<double> in_columns(const std::vector<double>& rows, uint32_t first_position,
                               uint32_t per_column) {
  std::vector<double> columns;
  uint32_t column = first_position / per_column;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto at = static_cast<uint32_t>((first_position + i) / per_column);
    const double value = std::isnan(rows[i]) ? INFINITY : rounded(rows[i]);
    if (columns.empty() || at != column) {
      columns.push_back(value);
      column = at;
    } else {
      columns.back() = std::max(columns.back(), value);
    }
  }
  return columns;
}

std::vector<size_t> worst_prompts(const diff::Report& report) {
  std::vector<size_t> order(report.prompts.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    return report.prompts[a].verdict > report.prompts[b].verdict;
  });
  order.resize(std::min(order.size(), kDetailedPrompts));
  std::ranges::sort(order);
  return order;
}

uint32_t rows_per_column(const diff::Report& report) {
  uint64_t n_cells = 0;
  for (const diff::PromptReport& prompt : report.prompts) {
    for (const diff::OpErrors& op : prompt.ops)
      n_cells += op.introduced_by_row.size() + op.total_by_row.size();
  }
  return static_cast<uint32_t>((n_cells + kCellsMax - 1) / kCellsMax);
}

Json summary(const diff::Report& report) {
  uint64_t n_ops = 0, n_equal = 0, n_rows = 0, n_same_first = 0;
  double budget_used = 0, kl = 0;
  bool is_budgeted = false;
  for (const diff::PromptReport& prompt : report.prompts) {
    for (const diff::OpErrors& op : prompt.ops) {
      ++n_ops;
      n_equal += op.n_bits_differ == 0 ? 1 : 0;
      if (op.budget.value_or(0) <= 0) continue;
      is_budgeted = true;
      budget_used = std::max(budget_used, op.introduced_worst / *op.budget);
    }
    for (const diff::LogitErrors& logits : prompt.logits) {
      ++n_rows;
      n_same_first += logits.top_a == logits.top_b ? 1 : 0;
      kl = std::isnan(logits.kl) ? INFINITY : std::max(kl, logits.kl);
    }
  }
  return {{"ops", n_ops},
          {"ops_equal", n_equal},
          {"is_budgeted", is_budgeted},
          {"budget_used", diff::number_json(budget_used)},
          {"rows", n_rows},
          {"rows_same_first", n_same_first},
          {"kl", diff::number_json(kl)}};
}

}  // namespace

Json page_data(const diff::Report& report) {
  const std::vector<size_t> detailed = worst_prompts(report);
  diff::Report cut = report;
  for (size_t at = 0; at < cut.prompts.size(); ++at) {
    if (std::ranges::binary_search(detailed, at)) continue;
    cut.prompts[at].ops.clear();
    for (diff::LogitErrors& logits : cut.prompts[at].logits) logits.top.clear();
  }
  const uint32_t per_column = std::max(1u, rows_per_column(cut));
  for (diff::PromptReport& prompt : cut.prompts) {
    for (diff::OpErrors& op : prompt.ops) {
      op.introduced_by_row = in_columns(op.introduced_by_row, op.first_position, per_column);
      op.total_by_row = in_columns(op.total_by_row, op.first_position, per_column);
    }
  }
  return {
      {"report", diff::to_json(cut)},
      {"page",
       {{"rows_per_column", per_column}, {"detailed", detailed}, {"summary", summary(report)}}}};
}

}  // namespace plumbline::report
