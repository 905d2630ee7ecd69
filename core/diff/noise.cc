#include "core/diff/noise.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/hash/sha256.h"

namespace plumbline::diff {
namespace {

using Json = nlohmann::json;

constexpr int kSchema = 2;
constexpr int kDepthMax = 16;  // the JSON library copies by recursion
// Levels that would excuse anything. An op that leaves zeros is off by 1; a row of logits spans
// some tens of its sigma, so rows that have nothing in common differ by less.
constexpr double kOpBudgetMax = 1;
constexpr double kLogitNoiseMax = 100;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

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

constexpr std::string NumericsClass::*kFields[] = {&NumericsClass::numerics,
                                                   &NumericsClass::activations, &NumericsClass::kv,
                                                   &NumericsClass::weights};

// The backend whose sums are in f64: what other kernels are measured against.
constexpr const char* kOracle = "reference-f64/1";

// Does an entry's field stand for what is there? An op has one of the formats that a whole has.
bool stands_for(const std::string& entry, const std::string& seen, bool is_op) {
  if (entry == "*" || seen.empty() || entry == seen) return true;
  if (!is_op) return false;
  const std::vector<std::string> parts = parts_of(entry);
  return std::find(parts.begin(), parts.end(), seen) != parts.end();
}

// In this order of the sides.
bool fits_so(const NoiseLevel& level, const NumericsClass& a, const NumericsClass& b, bool is_op) {
  return std::all_of(std::begin(kFields), std::end(kFields), [&](const auto field) {
    const std::string &of_a = a.*field, &of_b = b.*field;
    const bool is_equal = of_a == of_b || of_a.empty() || of_b.empty();
    if (level.a.*field == "*" && level.b.*field == "*" && !is_equal) return false;
    // An op that has the same on both sides is not excused by what others of the pair do.
    if (is_op && !of_a.empty() && of_a == of_b && level.a.*field != level.b.*field) return false;
    return stands_for(level.a.*field, of_a, is_op) && stands_for(level.b.*field, of_b, is_op);
  });
}

bool fits(const NoiseLevel& level, const NumericsClass& a, const NumericsClass& b, bool is_op) {
  return fits_so(level, a, b, is_op) || fits_so(level, b, a, is_op);
}

// level(from, to): of one entry. Else the shortest way there, a field at a time.
template <typename Level>
std::optional<double> along(const NumericsClass& from, const NumericsClass& to,
                            const Level& level) {
  if (const std::optional<double> direct = level(from, to)) return direct;
  std::optional<double> least;
  for (const auto field : kFields) {
    NumericsClass next = from;
    next.*field = to.*field;
    if (next == from || next == to) continue;
    const std::optional<double> step = level(from, next);
    const std::optional<double> rest = step ? along(next, to, level) : std::nullopt;
    if (rest) least = std::min(least.value_or(*step + *rest), *step + *rest);
  }
  return least;
}

Error expected(const std::string& what, const Json& json, const std::string& where) {
  return {PLUMB_CORRUPT, where + ": expected " + what + ", found " + json.dump().substr(0, 40)};
}

// A level of 0 would demand equal bits, which only the classes promise.
Result<double> level_of(const Json& json, double below, const std::string& where) {
  const double value = json.is_number() ? json.get<double>() : 0;
  if (value > 0 && value < below) return value;
  char bound[32] = "";
  if (std::isfinite(below)) std::snprintf(bound, sizeof bound, " and below %g", below);
  return expected(std::string("a number above 0") + bound, json, where);
}

template <typename Count>
Result<Count> count_of(const Json& map, const char* key, const std::string& where) {
  const Json json = map.value(key, Json());
  const uint64_t count = json.is_number_unsigned() ? json.get<uint64_t>() : 0;
  if (count > 0 && count <= std::numeric_limits<Count>::max()) return static_cast<Count>(count);
  return expected("a whole number above 0", json, where + "." + key);
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

Result<NoiseRun> read_run(const Json& entry, const std::string& where) {
  if (!entry.is_object()) return Error{PLUMB_CORRUPT, where + ": expected a map"};
  NoiseRun run;
  PLUMB_ASSIGN(run.model, text_of(entry, "model", where));
  PLUMB_ASSIGN(run.prompts, text_of(entry, "prompts", where));
  PLUMB_ASSIGN(run.kernels_a, text_of(entry, "kernels_a", where));
  PLUMB_ASSIGN(run.kernels_b, text_of(entry, "kernels_b", where));
  PLUMB_ASSIGN(run.date, text_of(entry, "date", where));
  PLUMB_ASSIGN(run.headroom,
               level_of(entry.value("headroom", Json()), kInfinity, where + ".headroom"));
  PLUMB_ASSIGN(run.n_prompts, count_of<uint32_t>(entry, "n_prompts", where));
  PLUMB_ASSIGN(run.n_rows, count_of<uint64_t>(entry, "n_rows", where));
  return run;
}

Result<NoiseLevel> read_level(const Json& entry, const std::string& where) {
  if (!entry.is_object()) return Error{PLUMB_CORRUPT, where + ": expected a map"};
  NoiseLevel level;
  PLUMB_ASSIGN(level.a, class_of(entry, "a", where));
  PLUMB_ASSIGN(level.b, class_of(entry, "b", where));
  for (const auto field : kFields) {
    if ((level.a.*field == "*") != (level.b.*field == "*"))
      return Error{PLUMB_CORRUPT,
                   where + ": \"*\" on one side alone; it stands for the same on both"};
  }
  const auto budgets = entry.find("op_budgets");
  if (budgets == entry.end() || !budgets->is_object())
    return Error{PLUMB_CORRUPT, where + ".op_budgets: expected a map"};
  for (const auto& [kind, value] : budgets->items()) {
    PLUMB_ASSIGN(const double budget, level_of(value, kOpBudgetMax, where + ".op_budgets." + kind));
    level.op_budgets.emplace(kind, budget);
  }
  PLUMB_ASSIGN(level.gap_noise, level_of(entry.value("gap_noise_sigma", Json()), kLogitNoiseMax,
                                         where + ".gap_noise_sigma"));
  // null, which infinity is written as: it was not measured, and bounds nothing.
  level.row_noise = kInfinity;
  if (const Json row = entry.value("row_noise_sigma", Json()); !row.is_null()) {
    PLUMB_ASSIGN(level.row_noise, level_of(row, kLogitNoiseMax, where + ".row_noise_sigma"));
  }
  const auto runs = entry.find("runs");
  if (runs == entry.end() || !runs->is_array() || runs->empty())
    return Error{PLUMB_CORRUPT, where + ".runs: expected a list of one run at least"};
  for (size_t i = 0; i < runs->size(); ++i) {
    PLUMB_ASSIGN(NoiseRun run, read_run((*runs)[i], where + ".runs[" + std::to_string(i) + "]"));
    level.runs.push_back(std::move(run));
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

nlohmann::ordered_json json_of(const NoiseRun& run) {
  return {{"model", run.model},         {"prompts", run.prompts},   {"n_prompts", run.n_prompts},
          {"n_rows", run.n_rows},       {"headroom", run.headroom}, {"kernels_a", run.kernels_a},
          {"kernels_b", run.kernels_b}, {"date", run.date}};
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

std::string kernels_of(const SideIdentity& side) {
  if (side.is_runner) return side.backend + " " + side.variant;
  const auto kernels = side.plugins.find("kernels");
  return kernels == side.plugins.end() ? side.backend : kernels->second;
}

// What both sides have the same does not matter where it cannot change the size of the errors that
// the rest makes. Codes of activations can, and so can weights under other codes.
void generalise(NoiseLevel& level) {
  const bool has_codes = level.a.activations != level.b.activations;
  for (const auto field : kFields) {
    if (level.a.*field != level.b.*field || field == &NumericsClass::activations) continue;
    if (field == &NumericsClass::weights && has_codes) continue;
    if (field == &NumericsClass::numerics && level.a == level.b) continue;  // "fast" twice
    level.a.*field = level.b.*field = "*";
  }
}

}  // namespace

Result<NoiseLevel> measured_level(const Report& report, double headroom) {
  const auto refuse = [](const std::string& why) {
    return Error{PLUMB_INVALID_ARGUMENT, "no noise level can be taken from this report: " + why};
  };
  if (report.is_empty) return refuse("nothing was compared");
  if (report.verdict == Verdict::kWrong) return refuse("its verdict is WRONG");
  NoiseLevel level;
  level.gap_noise = level.row_noise = kLevelMin;
  level.a = class_of(report.a);
  level.b = class_of(report.b);
  if (level.a == level.b && level.a.promises_equal_bits())
    return refuse("the two sides are of one class, which promises equal bits");
  for (const NumericsClass* side : {&level.a, &level.b}) {
    if (side->numerics.find('+') != std::string::npos)
      return refuse("a side has several backends (" + side->numerics + "): take one at a time");
    for (const auto field : kFields) {
      if (side->*field == "*")
        return refuse("a side calls its arithmetic \"*\", which would stand for any");
    }
  }
  generalise(level);
  NoiseRun& run = level.runs.emplace_back();
  run.model = report.a.config;
  run.headroom = headroom;
  run.kernels_a = kernels_of(report.a);
  run.kernels_b = kernels_of(report.b);
  run.n_prompts = static_cast<uint32_t>(report.prompts.size());
  for (const PromptReport& prompt : report.prompts) {
    const std::string where = "prompt " + std::to_string(prompt.index + 1) + ": ";
    if (!prompt.failure_a.empty()) return refuse(where + "A failed: " + prompt.failure_a);
    if (!prompt.failure_b.empty()) return refuse(where + "B failed: " + prompt.failure_b);
    for (const OpErrors& op : prompt.ops) {
      if (!std::isfinite(op.introduced_worst))
        return refuse(where + "op " + op.op + " has an error that is not finite");
      // Where equal bits are promised there is nothing to measure, and codes have their own bounds.
      if (op.split || (op.budget && *op.budget == 0)) continue;
      double& budget = level.op_budgets.try_emplace(op.kind, kLevelMin).first->second;
      budget = std::max(budget, rounded_up(headroom * op.introduced_worst));
    }
    run.n_rows += prompt.logits.size();
    for (const LogitErrors& logits : prompt.logits) {
      if (!std::isfinite(logits.row_change)) {
        return refuse(where + "logits of position " + std::to_string(logits.position) +
                      " differ by what is not finite");
      }
      level.gap_noise = std::max(level.gap_noise, rounded_up(headroom * logits.gap_change));
      level.row_noise = std::max(level.row_noise, rounded_up(headroom * logits.row_change));
    }
  }
  const auto is_absurd = [](const auto& budget) { return budget.second >= kOpBudgetMax; };
  if (level.gap_noise >= kLogitNoiseMax || level.row_noise >= kLogitNoiseMax ||
      std::ranges::any_of(level.op_budgets, is_absurd))
    return refuse("it would be so wide that it excuses anything (core/doc/noise.md)");
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
  same->gap_noise = std::max(same->gap_noise, level.gap_noise);
  same->row_noise = std::max(same->row_noise, level.row_noise);
  for (const NoiseRun& run : level.runs) {
    const auto is_one = [&](const NoiseRun& held) {
      return held.model == run.model && held.prompts == run.prompts &&
             held.headroom == run.headroom && held.kernels_a == run.kernels_a &&
             held.kernels_b == run.kernels_b && held.date == run.date;
    };
    const auto held = std::find_if(same->runs.begin(), same->runs.end(), is_one);
    if (held == same->runs.end()) {
      same->runs.push_back(run);
    } else {
      held->n_prompts += run.n_prompts;
      held->n_rows += run.n_rows;
    }
  }
}

std::string NoiseTable::text() const {
  nlohmann::ordered_json json{{"schema", kSchema}, {"levels", nlohmann::ordered_json::array()}};
  for (const NoiseLevel& level : levels_) {
    nlohmann::ordered_json runs = nlohmann::ordered_json::array();
    for (const NoiseRun& run : level.runs) runs.push_back(json_of(run));
    json["levels"].push_back({{"a", json_of(level.a)},
                              {"b", json_of(level.b)},
                              {"op_budgets", level.op_budgets},
                              {"gap_noise_sigma", level.gap_noise},
                              {"row_noise_sigma", level.row_noise},
                              {"runs", std::move(runs)}});
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
  return along(a, b, [&](const NumericsClass& from, const NumericsClass& to) {
    std::optional<double> largest;
    for (const NoiseLevel& level : levels_) {
      const auto budget = level.op_budgets.find(kind);
      if (budget == level.op_budgets.end() || !fits(level, from, to, true)) continue;
      largest = std::max(largest.value_or(0), budget->second);
    }
    return largest;
  });
}

std::optional<double> NoiseTable::kernel_budget(std::string_view kind,
                                                const NumericsClass& of) const {
  if (of.numerics == kOracle) return kLevelMin;
  NumericsClass oracle = of;
  oracle.numerics = kOracle;
  return op_budget(kind, of, oracle);
}

std::optional<double> NoiseTable::gap_noise(const NumericsClass& a, const NumericsClass& b) const {
  return logit_noise(&NoiseLevel::gap_noise, a, b);
}

std::optional<double> NoiseTable::row_noise(const NumericsClass& a, const NumericsClass& b) const {
  return logit_noise(&NoiseLevel::row_noise, a, b);
}

std::optional<double> NoiseTable::logit_noise(double NoiseLevel::*level, const NumericsClass& a,
                                              const NumericsClass& b) const {
  std::optional<double> largest;
  for (const auto& [of_a, of_b] : unequal_pairs(a, b)) {
    const std::optional<double> of_pair =
        along(of_a, of_b, [&](const NumericsClass& from, const NumericsClass& to) {
          std::optional<double> most;
          for (const NoiseLevel& one : levels_) {
            if (fits(one, from, to, false)) most = std::max(most.value_or(0), one.*level);
          }
          return most;
        });
    if (!of_pair) return std::nullopt;
    largest = std::max(largest.value_or(0), *of_pair);
  }
  return largest;
}

LogitNoise logit_noise(const NoiseTable* table, const NumericsClass& a, const NumericsClass& b,
                       bool demands_equal) {
  LogitNoise noise;
  if (table != nullptr) noise = {table->gap_noise(a, b), table->row_noise(a, b)};
  if (demands_equal) noise.gap = 0;
  return noise;
}

}  // namespace plumbline::diff
