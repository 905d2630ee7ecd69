// sampler_rows.h: the rows of golden/samplers, each with its histories.
#pragma once

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "tests/support/golden_cases.h"
#include "tests/support/npy.h"
#include "tests/unit/samplers/stages_in_a_row.h"

namespace plumbline::test {

struct SamplerRow {
  std::vector<float> logits;
  bool is_real = false;
  std::map<std::string, Facts> histories = {};
};

/// The best of a row, in id order, as a row of its own.
inline std::vector<float> best_of(const std::vector<float>& logits, size_t n) {
  std::vector<size_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), size_t{0});
  const auto is_better = [&](size_t a, size_t b) {
    return logits[a] > logits[b] || (logits[a] == logits[b] && a < b);
  };
  std::nth_element(ids.begin(), ids.begin() + static_cast<int64_t>(n) - 1, ids.end(), is_better);
  ids.resize(n);
  std::sort(ids.begin(), ids.end());
  std::vector<float> out;
  for (const size_t id : ids) out.push_back(logits[id]);
  return out;
}

inline SamplerRow read_sampler_row(const nlohmann::json& row) {
  SamplerRow out;
  if (row.contains("logits")) {
    for (const nlohmann::json& z : row["logits"])
      out.logits.push_back(z.is_string() ? -INFINITY : z.get<float>());
    return out;
  }
  out.is_real = true;
  out.logits = npy_values<float>(golden_path(row["file"]));
  if (row.contains("best")) out.logits = best_of(out.logits, row["best"]);
  return out;
}

/// By name; read once.
inline const std::map<std::string, SamplerRow>& sampler_rows() {
  static const auto all = [] {
    std::map<std::string, SamplerRow> rows;
    for (const nlohmann::json& row : read_jsonl(golden_path("samplers/rows.jsonl")))
      rows[row["name"]] = read_sampler_row(row);
    for (const nlohmann::json& one : read_jsonl(golden_path("samplers/histories.jsonl"))) {
      Facts& facts = rows[one["row"]].histories[one["name"]];
      one["prompt"].get_to(facts.prompt);
      one["generated"].get_to(facts.generated);
      one["breakers"].get_to(facts.breakers);
    }
    return rows;
  }();
  return all;
}

}  // namespace plumbline::test
