#include "core/diff/report_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/diff/verdicts.h"

namespace plumbline::diff {
namespace {

using Json = nlohmann::ordered_json;

// ---- The fields of each struct, once for writing and for reading

template <typename T, typename Struct>
concept Is = std::is_same_v<std::remove_const_t<T>, Struct>;

void fields(auto&& visit, Is<Place> auto& place) {
  visit("door", place.door);
  visit("op", place.op);
  visit("layer", place.layer);
  visit("at", place.at);
  visit("step", place.step);
  visit("bytes_begin", place.bytes_begin);
  visit("bytes_end", place.bytes_end);
  visit("seen_a", place.seen_a);
  visit("seen_b", place.seen_b);
}

void fields(auto&& visit, Is<OpErrors::Split> auto& split) {
  visit("weights", split.weights);
  visit("activations", split.activations);
  visit("arithmetic", split.arithmetic);
  visit("weights_bound", split.weights_bound);
  visit("activations_bound", split.activations_bound);
  visit("arithmetic_bound", split.arithmetic_bound);
}

void fields(auto&& visit, Is<OpErrors::Example> auto& example) {
  visit("position", example.position);
  visit("channel", example.channel);
  visit("computed_at", example.computed_at);
  visit("a", example.a);
  visit("b", example.b);
  visit("held_at_a", example.held_at_a);
  visit("held_at_b", example.held_at_b);
  visit("is_over", example.is_over);
}

void fields(auto&& visit, Is<OpErrors> auto& op) {
  visit("op", op.op);
  visit("layer", op.layer);
  visit("kind", op.kind);
  visit("verdict", op.verdict);
  visit("n_rows", op.n_rows);
  visit("n_values", op.n_values);
  visit("n_bits_differ", op.n_bits_differ);
  visit("introduced", op.introduced);
  visit("introduced_worst", op.introduced_worst);
  visit("worst_position", op.worst_position);
  visit("inherited", op.inherited);
  visit("total", op.total);
  visit("gain", op.gain);
  visit("budget", op.budget);
  visit("split", op.split);
  visit("example", op.example);
  visit("first_position", op.first_position);
  visit("introduced_by_row", op.introduced_by_row);
  visit("total_by_row", op.total_by_row);
}

void fields(auto&& visit, Is<LogitErrors::Top> auto& top) {
  visit("id", top.id);
  visit("piece", top.piece);
  visit("a", top.a);
  visit("b", top.b);
  visit("rank_a", top.rank_a);
  visit("rank_b", top.rank_b);
}

void fields(auto&& visit, Is<LogitErrors> auto& logits) {
  visit("position", logits.position);
  visit("step", logits.step);
  visit("verdict", logits.verdict);
  visit("n_bits_differ", logits.n_bits_differ);
  visit("cosine", logits.cosine);
  visit("mean_absolute", logits.mean_absolute);
  visit("mean_absolute_by_sigma", logits.mean_absolute_by_sigma);
  visit("largest_absolute", logits.largest_absolute);
  visit("kl", logits.kl);
  visit("top_k_agree", logits.top_k_agree);
  visit("top_a", logits.top_a);
  visit("top_b", logits.top_b);
  visit("gap_a", logits.gap_a);
  visit("gap_change", logits.gap_change);
  visit("row_change", logits.row_change);
  visit("noise", logits.noise);
  visit("row_noise", logits.row_noise);
  visit("top", logits.top);
}

void fields(auto&& visit, Is<StageErrors> auto& stage) {
  visit("a", stage.a);
  visit("b", stage.b);
  visit("n_kept_a", stage.n_kept_a);
  visit("n_kept_b", stage.n_kept_b);
  visit("n_only_a", stage.n_only_a);
  visit("n_only_b", stage.n_only_b);
  visit("only_a", stage.only_a);
  visit("only_b", stage.only_b);
  visit("differs", stage.differs);
}

void fields(auto&& visit, Is<PickErrors> auto& pick) {
  visit("step", pick.step);
  visit("verdict", pick.verdict);
  visit("id_a", pick.id_a);
  visit("id_b", pick.id_b);
  visit("end_a", pick.end_a);
  visit("end_b", pick.end_b);
  visit("draw_a", pick.draw_a);
  visit("draw_b", pick.draw_b);
  visit("coin", pick.coin);
  visit("coin_b", pick.coin_b);
  visit("n_kept_a", pick.n_kept_a);
  visit("n_kept_b", pick.n_kept_b);
  visit("n_kept_both", pick.n_kept_both);
  visit("total_variation", pick.total_variation);
  visit("flip_probability", pick.flip_probability);
  visit("first_stage", pick.first_stage);
  visit("stages", pick.stages);
}

void fields(auto&& visit, Is<ExactDoor> auto& door) {
  visit("door", door.door);
  visit("verdict", door.verdict);
  visit("size_a", door.size_a);
  visit("size_b", door.size_b);
  visit("is_compared", door.is_compared);
  visit("why_not", door.why_not);
  visit("place", door.place);
}

void fields(auto&& visit, Is<Cause> auto& cause) {
  visit("signature", cause.signature);
  visit("statement", cause.statement);
  visit("reproduces_b", cause.reproduces_b);
  visit("plain", cause.plain);
  visit("also", cause.also);
  visit("place", cause.place);
}

void fields(auto&& visit, Is<PromptReport> auto& prompt) {
  visit("index", prompt.index);
  visit("prompt", prompt.prompt);
  visit("verdict", prompt.verdict);
  visit("place", prompt.place);
  visit("cause", prompt.cause);
  visit("notes", prompt.notes);
  visit("hints", prompt.hints);
  visit("failure_a", prompt.failure_a);
  visit("failure_b", prompt.failure_b);
  visit("ids_a", prompt.ids_a);
  visit("ids_b", prompt.ids_b);
  visit("pieces_a", prompt.pieces_a);
  visit("pieces_b", prompt.pieces_b);
  visit("text_a", prompt.text_a);
  visit("text_b", prompt.text_b);
  visit("bits_per_byte_a", prompt.bits_per_byte_a);
  visit("bits_per_byte_b", prompt.bits_per_byte_b);
  visit("exact", prompt.exact);
  visit("n_ops_only_a", prompt.n_ops_only_a);
  visit("n_ops_only_b", prompt.n_ops_only_b);
  visit("n_rows_not_compared", prompt.n_rows_not_compared);
  visit("ops", prompt.ops);
  visit("logits", prompt.logits);
  visit("picks", prompt.picks);
}

void fields(auto&& visit, Is<SideIdentity> auto& side) {
  visit("config", side.config);
  visit("model_sha256", side.model_sha256);
  visit("tokenizer", side.tokenizer);
  visit("chat_template_sha256", side.chat_template_sha256);
  visit("backend", side.backend);
  visit("variant", side.variant);
  visit("numerics", side.numerics);
  visit("activations", side.activations);
  visit("kv", side.kv);
  visit("weights", side.weights);
  visit("plugins", side.plugins);
  visit("is_runner", side.is_runner);
}

void fields(auto&& visit, Is<Report> auto& report) {
  visit("verdict", report.verdict);
  visit("mode", report.mode);
  visit("a", report.a);
  visit("b", report.b);
  visit("pair_class", report.pair_class);
  visit("noise_source", report.noise_source);
  visit("differences", report.differences);
  visit("notes", report.notes);
  visit("is_empty", report.is_empty);
  visit("prompts", report.prompts);
}

// ---- Names of enumerations

template <typename Enum>
struct Names;
template <>
struct Names<Verdict> {
  static constexpr std::array all = {Verdict::kMatch, Verdict::kDrift, Verdict::kTieFlip,
                                     Verdict::kUnexplained, Verdict::kWrong};
  static const char* of(Verdict verdict) { return verdict_name(verdict); }
};
template <>
struct Names<Door> {
  static constexpr std::array all = {Door::kPrompt, Door::kTokens, Door::kOps,  Door::kLogits,
                                     Door::kPick,   Door::kBytes,  Door::kText, Door::kContext};
  static const char* of(Door door) { return door_name(door); }
};
template <>
struct Names<Mode> {
  static constexpr std::array all = {Mode::kForced, Mode::kChained};
  static const char* of(Mode mode) { return mode_name(mode); }
};

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <typename T>
inline constexpr bool kIsVector = false;
template <typename T>
inline constexpr bool kIsVector<std::vector<T>> = true;
using TextMap = std::map<std::string, std::string>;

// What JSON has no numbers for.
constexpr std::pair<const char*, double> kNotFinite[] = {
    {"inf", std::numeric_limits<double>::infinity()},
    {"-inf", -std::numeric_limits<double>::infinity()},
    {"nan", std::numeric_limits<double>::quiet_NaN()}};

// Sizes of errors and their bounds, none of which is negative; a float is a value of a side.
template <typename T>
inline constexpr bool kIsMeasure = std::is_same_v<T, double>;
constexpr const char* kSigned = ".cosine";  // the one that may be

// ---- Writing

template <typename T>
Json written(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return Names<T>::of(value);
  } else if constexpr (kIsOptional<T>) {
    return value ? written(*value) : Json();
  } else if constexpr (kIsVector<T>) {
    Json list = Json::array();
    for (const auto& item : value) list.push_back(written(item));
    return list;
  } else if constexpr (std::is_floating_point_v<T>) {
    return number_json(value);
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string> ||
                       std::is_same_v<T, TextMap>) {
    return value;
  } else {
    Json map = Json::object();
    fields([&](const char* name, const auto& field) { map[name] = written(field); }, value);
    return map;
  }
}

// ---- Reading

class Reader {
 public:
  template <typename T>
  void read(const Json& json, T& to, const std::string& where) {
    if (error_) return;
    if constexpr (std::is_enum_v<T>) {
      if (!json.is_string()) return fail(where, "a text");
      for (const T one : Names<T>::all) {
        if (json == Names<T>::of(one)) {
          to = one;
          return;
        }
      }
      fail(where, "one of the known names");
    } else if constexpr (kIsOptional<T>) {
      if (json.is_null()) return;
      read(json, to.emplace(), where);
    } else if constexpr (kIsVector<T>) {
      if (!json.is_array()) return fail(where, "a list");
      to.clear();
      for (size_t i = 0; i < json.size() && !error_; ++i)
        read(json[i], to.emplace_back(), where + "[" + std::to_string(i) + "]");
    } else if constexpr (std::is_same_v<T, bool>) {
      if (!json.is_boolean()) return fail(where, "true or false");
      to = json.get<bool>();
    } else if constexpr (std::is_floating_point_v<T>) {
      read_number(json, to, where);
    } else if constexpr (std::is_integral_v<T>) {
      read_integer(json, to, where);
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (!json.is_string()) return fail(where, "a text");
      to = json.get<std::string>();
    } else if constexpr (std::is_same_v<T, TextMap>) {
      if (!json.is_object()) return fail(where, "a map");
      for (const auto& [key, value] : json.items()) read(value, to[key], where + "." + key);
    } else {
      if (!json.is_object()) return fail(where, "a map");
      fields(
          [&](const char* name, auto& field) {
            const auto found = json.find(name);
            const std::string inside = where.empty() ? name : where + "." + name;
            if (found == json.end()) return fail(inside, "this key");
            read(*found, field, inside);
          },
          to);
    }
  }

  const std::optional<Error>& error() const { return error_; }

 private:
  template <typename T>
  void read_number(const Json& json, T& to, const std::string& where) {
    const auto name =
        std::ranges::find(kNotFinite, json, [](const auto& one) { return one.first; });
    if (!json.is_number() && name == std::end(kNotFinite))
      return fail(where, "a number, \"inf\", \"-inf\" or \"nan\"");
    to = json.is_number() ? json.get<T>() : static_cast<T>(name->second);
    if (kIsMeasure<T> && to < 0 && !where.ends_with(kSigned))
      fail(where, "no negative number, found " + json.dump());
  }

  template <typename T>
  void read_integer(const Json& json, T& to, const std::string& where) {
    if (json.is_number_unsigned()) {
      const auto value = json.get<uint64_t>();
      if (value <= static_cast<uint64_t>(std::numeric_limits<T>::max())) {
        to = static_cast<T>(value);
        return;
      }
    } else if (json.is_number_integer()) {
      const auto value = json.get<int64_t>();
      if (std::is_signed_v<T> && value >= static_cast<int64_t>(std::numeric_limits<T>::min())) {
        to = static_cast<T>(value);
        return;
      }
    }
    fail(where, "a whole number that fits");
  }

  void fail(const std::string& where, const std::string& expected) {
    if (!error_) error_ = Error{PLUMB_CORRUPT, "report: " + where + ": expected " + expected};
  }

  std::optional<Error> error_;
};

}  // namespace

Json number_json(double value) {
  if (std::isfinite(value)) return value;
  return kNotFinite[std::isnan(value) ? 2 : value > 0 ? 0 : 1].first;
}

Json to_json(const SideIdentity& side) {
  return written(side);
}

Json to_json(const Report& report) {
  Json json{{"schema", kReportSchema}};
  json.update(written(report));
  json["volatile"] = {{"seconds", report.seconds}};
  return json;
}

Result<Report> report_from_json(const Json& json) {
  if (!json.is_object() || !json.contains("schema") || json["schema"] != kReportSchema) {
    return Error{PLUMB_CORRUPT,
                 "report: expected a diff report of schema " + std::to_string(kReportSchema)};
  }
  Report report;
  Reader reader;
  reader.read(json, report, "");
  if (reader.error()) return *reader.error();
  PLUMB_TRY(check_verdicts(report));
  if (json.contains("volatile") && json["volatile"].is_object()) {
    const Json& seconds = json["volatile"].value("seconds", Json());
    if (seconds.is_number()) report.seconds = seconds.get<double>();
  }
  return report;
}

}  // namespace plumbline::diff
