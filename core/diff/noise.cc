#include "core/diff/noise.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "core/hash/sha256.h"

namespace plumbline::diff {
namespace {

using Json = nlohmann::json;

constexpr int kSchema = 1;
constexpr int kDepthMax = 16;  // the JSON library copies by recursion

// "a+b" -> a, b
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('+', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// Does an entry's field stand for what is there? An op has one of the formats that a whole has.
bool stands_for(const std::string& entry, const std::string& seen, bool is_part) {
  if (entry == "*" || seen.empty() || entry == seen) return true;
  if (!is_part) return false;
  const std::vector<std::string> parts = parts_of(entry);
  return std::find(parts.begin(), parts.end(), seen) != parts.end();
}

bool stands_for(const NumericsClass& entry, const NumericsClass& seen, bool is_op) {
  return stands_for(entry.numerics, seen.numerics, is_op) &&
         stands_for(entry.activations, seen.activations, is_op) &&
         stands_for(entry.kv, seen.kv, is_op) && stands_for(entry.weights, seen.weights, is_op);
}

constexpr std::string NumericsClass::*kFields[] = {&NumericsClass::numerics,
                                                   &NumericsClass::activations, &NumericsClass::kv,
                                                   &NumericsClass::weights};

// An op that has the same on both sides is not excused by what other ops of an unequal pair do.
bool excuses_the_equal(const NoiseLevel& level, const NumericsClass& a, const NumericsClass& b) {
  return std::any_of(std::begin(kFields), std::end(kFields), [&](const auto field) {
    return !(a.*field).empty() && a.*field == b.*field && level.a.*field != level.b.*field;
  });
}

bool stands_for(const NoiseLevel& level, const NumericsClass& a, const NumericsClass& b,
                bool is_op) {
  if (is_op && excuses_the_equal(level, a, b)) return false;
  return (stands_for(level.a, a, is_op) && stands_for(level.b, b, is_op)) ||
         (stands_for(level.a, b, is_op) && stands_for(level.b, a, is_op));
}

// A level of 0 would demand equal bits, which only the classes promise.
Result<double> level_of(const Json& json, const std::string& where) {
  const double value = json.is_number() ? json.get<double>() : 0;
  if (!(value > 0) || !std::isfinite(value)) {
    return Error{PLUMB_CORRUPT,
                 where + ": expected a number above 0, found " + json.dump().substr(0, 40)};
  }
  return value;
}

Result<std::string> text_of(const Json& map, const char* key, const std::string& where) {
  const auto found = map.find(key);
  if (found == map.end() || !found->is_string())
    return Error{PLUMB_CORRUPT, where + "." + key + ": expected a text"};
  return found->get<std::string>();
}

Result<NumericsClass> class_of(const Json& entry, const char* key, const std::string& where) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_object())
    return Error{PLUMB_CORRUPT, where + "." + key + ": expected a map"};
  const std::string inside = where + "." + key;
  NumericsClass read;
  PLUMB_ASSIGN(read.numerics, text_of(*found, "numerics", inside));
  PLUMB_ASSIGN(read.activations, text_of(*found, "activations", inside));
  PLUMB_ASSIGN(read.kv, text_of(*found, "kv", inside));
  PLUMB_ASSIGN(read.weights, text_of(*found, "weights", inside));
  return read;
}

Result<NoiseLevel> read_level(const Json& entry, const std::string& where) {
  if (!entry.is_object()) return Error{PLUMB_CORRUPT, where + ": expected a map"};
  NoiseLevel level;
  PLUMB_ASSIGN(level.a, class_of(entry, "a", where));
  PLUMB_ASSIGN(level.b, class_of(entry, "b", where));
  PLUMB_ASSIGN(level.source, text_of(entry, "source", where));
  const auto budgets = entry.find("op_budgets");
  if (budgets == entry.end() || !budgets->is_object())
    return Error{PLUMB_CORRUPT, where + ".op_budgets: expected a map"};
  for (const auto& [kind, value] : budgets->items()) {
    PLUMB_ASSIGN(const double budget, level_of(value, where + ".op_budgets." + kind));
    level.op_budgets.emplace(kind, budget);
  }
  PLUMB_ASSIGN(level.logit_noise,
               level_of(entry.value("logit_noise_sigma", Json()), where + ".logit_noise_sigma"));
  PLUMB_ASSIGN(const double n_prompts,
               level_of(entry.value("n_prompts", Json()), where + ".n_prompts"));
  level.n_prompts = static_cast<uint32_t>(std::min(n_prompts, 4e9));
  const auto models = entry.find("models");
  if (models == entry.end() || !models->is_array())
    return Error{PLUMB_CORRUPT, where + ".models: expected a list"};
  for (const Json& model : *models) {
    if (!model.is_string()) return Error{PLUMB_CORRUPT, where + ".models: expected texts"};
    level.models.push_back(model);
  }
  return level;
}

// The sides that differ, once for each pair of their backends' classes.
std::vector<std::pair<NumericsClass, NumericsClass>> unequal_pairs(const NumericsClass& a,
                                                                   const NumericsClass& b) {
  std::vector<std::pair<NumericsClass, NumericsClass>> pairs;
  for (const std::string& of_a : parts_of(a.numerics)) {
    for (const std::string& of_b : parts_of(b.numerics)) {
      NumericsClass one = a, other = b;
      one.numerics = of_a;
      other.numerics = of_b;
      if (one == other && one.promises_equal_bits()) continue;
      pairs.emplace_back(std::move(one), std::move(other));
    }
  }
  return pairs;
}

nlohmann::ordered_json json_of(const NumericsClass& numerics) {
  return {{"numerics", numerics.numerics},
          {"activations", numerics.activations},
          {"kv", numerics.kv},
          {"weights", numerics.weights}};
}

// One rounding of f32: where no error was seen, one may come all the same. (0 would demand equal
// bits.) Of logits it is one of a value of the size of sigma.
constexpr double kLevelMin = 1.2e-7;

// Two digits are all that a level is worth; upward, so that what was measured stays within.
double rounded_up(double value) {
  if (value <= 0 || !std::isfinite(value)) return value;
  const int exponent = static_cast<int>(std::floor(std::log10(value))) - 1;
  const double digits = std::ceil(value / std::pow(10.0, exponent));
  char text[32];
  std::snprintf(text, sizeof text, "%.0fe%d", digits, exponent);
  return std::strtod(text, nullptr);
}

NumericsClass class_of(const SideIdentity& side) {
  return {side.numerics, side.activations, side.kv, side.weights};
}

}  // namespace

Result<NoiseLevel> measured_level(const Report& report, double headroom) {
  const auto refuse = [](const std::string& why) {
    return Error{PLUMB_INVALID_ARGUMENT, "no noise level can be taken from this report: " + why};
  };
  if (report.is_empty) return refuse("nothing was compared");
  if (report.verdict == Verdict::kWrong) return refuse("its verdict is WRONG");
  NoiseLevel level;
  level.logit_noise = kLevelMin;
  level.a = class_of(report.a);
  level.b = class_of(report.b);
  for (const auto field : kFields) {
    if (level.a.*field == "*" || level.b.*field == "*")
      return refuse("a side calls its arithmetic \"*\", which would stand for any");
  }
  if (level.a.activations == level.b.activations && level.a.weights == level.b.weights)
    level.a.weights = level.b.weights = "*";
  for (const PromptReport& prompt : report.prompts) {
    const std::string where = "prompt " + std::to_string(prompt.index + 1) + ": ";
    if (!prompt.failure_a.empty()) return refuse(where + "A failed: " + prompt.failure_a);
    if (!prompt.failure_b.empty()) return refuse(where + "B failed: " + prompt.failure_b);
    for (const OpErrors& op : prompt.ops) {
      if (!std::isfinite(op.introduced_worst))
        return refuse(where + "op " + op.op + " has an error that is not finite");
      // Where equal bits are promised there is nothing to measure.
      if (op.budget && *op.budget == 0) continue;
      double& budget = level.op_budgets.try_emplace(op.kind, kLevelMin).first->second;
      budget = std::max(budget, rounded_up(headroom * op.introduced_worst));
    }
    for (const LogitErrors& logits : prompt.logits) {
      if (!std::isfinite(logits.largest_absolute) || !std::isfinite(logits.gap_change)) {
        return refuse(where + "logits of position " + std::to_string(logits.position) +
                      " differ by what is not finite");
      }
      level.logit_noise = std::max(level.logit_noise, rounded_up(headroom * logits.gap_change));
    }
  }
  level.n_prompts = static_cast<uint32_t>(report.prompts.size());
  level.models = {report.a.config};
  return level;
}

void NoiseTable::add(const NoiseLevel& level) {
  const auto same = std::find_if(levels_.begin(), levels_.end(), [&](const NoiseLevel& one) {
    return one.a == level.a && one.b == level.b;
  });
  if (same == levels_.end()) {
    levels_.push_back(level);
    return;
  }
  for (const auto& [kind, budget] : level.op_budgets) {
    double& held = same->op_budgets[kind];
    held = std::max(held, budget);
  }
  same->logit_noise = std::max(same->logit_noise, level.logit_noise);
  same->n_prompts += level.n_prompts;
  same->source = level.source;
  for (const std::string& model : level.models) {
    if (std::find(same->models.begin(), same->models.end(), model) == same->models.end())
      same->models.push_back(model);
  }
}

std::string NoiseTable::text() const {
  nlohmann::ordered_json json{{"schema", kSchema}, {"levels", nlohmann::ordered_json::array()}};
  for (const NoiseLevel& level : levels_) {
    json["levels"].push_back({{"a", json_of(level.a)},
                              {"b", json_of(level.b)},
                              {"op_budgets", level.op_budgets},
                              {"logit_noise_sigma", level.logit_noise},
                              {"source", level.source},
                              {"n_prompts", level.n_prompts},
                              {"models", level.models}});
  }
  return json.dump(1) + "\n";
}

std::string NumericsClass::text() const {
  std::string all;
  for (const std::string& field : {numerics, activations, kv, weights}) {
    if (!field.empty()) all += (all.empty() ? "" : " ") + field;
  }
  return all;
}

Result<NoiseTable> NoiseTable::parse(std::string_view text, const std::string& where) {
  bool is_too_deep = false;
  const auto keep = [&](int depth, Json::parse_event_t, Json&) {
    is_too_deep |= depth > kDepthMax;
    return !is_too_deep;
  };
  const Json json = Json::parse(text, keep, false);
  if (is_too_deep || !json.is_object())
    return Error{PLUMB_CORRUPT, where + ": expected a JSON object of noise levels"};
  if (json.value("schema", Json()) != kSchema) {
    return Error{PLUMB_CORRUPT, where + ": schema " + json.value("schema", Json()).dump() +
                                    ", expected " + std::to_string(kSchema)};
  }
  const auto entries = json.find("levels");
  if (entries == json.end() || !entries->is_array())
    return Error{PLUMB_CORRUPT, where + ": levels: expected a list"};
  NoiseTable table;
  table.source_ = where + " sha256 " + sha256_of(text);
  for (size_t i = 0; i < entries->size(); ++i) {
    PLUMB_ASSIGN(NoiseLevel level,
                 read_level((*entries)[i], where + ": levels[" + std::to_string(i) + "]"));
    table.levels_.push_back(std::move(level));
  }
  return table;
}

std::optional<double> NoiseTable::op_budget(std::string_view kind, const NumericsClass& a,
                                            const NumericsClass& b) const {
  std::optional<double> largest;
  for (const NoiseLevel& level : levels_) {
    const auto budget = level.op_budgets.find(kind);
    if (budget == level.op_budgets.end() || !stands_for(level, a, b, true)) continue;
    largest = std::max(largest.value_or(0), budget->second);
  }
  return largest;
}

std::optional<double> NoiseTable::logit_noise(const NumericsClass& a,
                                              const NumericsClass& b) const {
  std::optional<double> largest;
  for (const auto& [of_a, of_b] : unequal_pairs(a, b)) {
    const auto fits = [&](const NoiseLevel& level) { return stands_for(level, of_a, of_b, false); };
    const auto found = std::find_if(levels_.begin(), levels_.end(), fits);
    if (found == levels_.end()) return std::nullopt;
    double largest_of_pair = 0;
    for (const NoiseLevel& level : levels_) {
      if (fits(level)) largest_of_pair = std::max(largest_of_pair, level.logit_noise);
    }
    largest = std::max(largest.value_or(0), largest_of_pair);
  }
  return largest;
}

}  // namespace plumbline::diff
