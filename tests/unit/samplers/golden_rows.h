// golden_rows.h: the rows of golden/cases/samplers.jsonl.
#pragma once

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/support/golden_cases.h"

namespace plumbline::test {

inline float number(const nlohmann::json& value) {
  return value.is_string() ? std::strtof(value.get<std::string>().c_str(), nullptr)
                           : value.get<float>();
}

inline std::vector<float> logits_of(const nlohmann::json& value) {
  std::vector<float> out;
  if (value.contains("probs")) {
    for (const double p : value["probs"]) out.push_back(static_cast<float>(std::log(p)));
  } else {
    for (const nlohmann::json& logit : value["logits"]) out.push_back(number(logit));
  }
  return out;
}

}  // namespace plumbline::test
