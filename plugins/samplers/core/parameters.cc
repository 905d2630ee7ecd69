#include "parameters.h"

#include <algorithm>
#include <cfloat>
#include <charconv>
#include <cmath>

namespace plumbline::samplers::core {
namespace {

using nlohmann::json;

std::string shown(const json& value) {
  constexpr size_t kMaxBytes = 60;
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  return text.size() <= kMaxBytes ? text : text.substr(0, kMaxBytes) + "...";
}

}  // namespace

Error Parameters::bad(const std::string& message) const {
  return {PLUMB_INVALID_CONFIG, stage_ + ": " + message};
}

Result<Parameters> Parameters::parse(std::string_view stage, std::string_view text) {
  Parameters parameters;
  parameters.stage_ = stage;
  parameters.object_ = json::object();
  if (text.empty()) return parameters;
  parameters.object_ = json::parse(text, nullptr, false);
  if (parameters.object_.is_discarded())
    return parameters.bad("parameters that are not JSON, expected an object");
  if (!parameters.object_.is_object()) {
    return parameters.bad("parameters " + shown(parameters.object_) + ", expected an object");
  }
  return parameters;
}

Result<json> Parameters::take(const char* key, const std::string& expected) {
  known_.emplace_back(key);
  const auto at = object_.find(key);
  if (at == object_.end())
    return bad("key \"" + std::string(key) + "\" is missing, expected " + expected);
  return Result<json>(*at);
}

Result<double> Parameters::number(const char* key, bool (*is_valid)(double), const char* expected) {
  PLUMB_ASSIGN(const json value, take(key, expected));
  if (value.is_number() && is_valid(value.get<double>())) return value.get<double>();
  return bad(std::string(key) + " is " + shown(value) + ", expected " + expected);
}

Result<double> Parameters::number_or(const char* key, double fallback, bool (*is_valid)(double),
                                     const char* expected) {
  if (object_.contains(key)) return number(key, is_valid, expected);
  known_.emplace_back(key);
  return fallback;
}

Result<uint64_t> Parameters::integer(const char* key, uint64_t least, uint64_t most) {
  const std::string expected =
      most == UINT64_MAX
          ? "an integer of at least " + std::to_string(least)
          : "an integer from " + std::to_string(least) + " to " + std::to_string(most);
  PLUMB_ASSIGN(const json value, take(key, expected));
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    if (number >= least && number <= most) return number;
  }
  return bad(std::string(key) + " is " + shown(value) + ", expected " + expected);
}

Result<uint64_t> Parameters::count(const char* key) {
  return integer(key, 1, UINT64_MAX);
}

Result<uint64_t> Parameters::count_or(const char* key, uint64_t fallback, uint64_t least,
                                      uint64_t most) {
  if (object_.contains(key)) return integer(key, least, most);
  known_.emplace_back(key);
  return fallback;
}

Result<std::vector<int32_t>> Parameters::ids(const char* key, uint32_t n_vocab) {
  const std::string expected = "an array of ids below " + std::to_string(n_vocab) + ", not empty";
  PLUMB_ASSIGN(const json value, take(key, expected));
  if (!value.is_array() || value.empty())
    return bad(std::string(key) + " is " + shown(value) + ", expected " + expected);
  std::vector<int32_t> ids;
  for (const json& id : value) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= n_vocab) {
      return bad(std::string(key) + "[" + std::to_string(ids.size()) + "] is " + shown(id) +
                 ", expected an id from 0 to " + std::to_string(n_vocab - 1));
    }
    ids.push_back(id.get<int32_t>());
  }
  return ids;
}

Result<std::vector<Bias>> Parameters::biases(const char* key, uint32_t n_vocab) {
  PLUMB_ASSIGN(const json value, take(key, "a map from ids to biases, not empty"));
  if (!value.is_object() || value.empty())
    return bad(std::string(key) + " is " + shown(value) +
               ", expected a map from ids to biases, not empty");
  std::vector<Bias> biases;
  for (const auto& [name, bias] : value.items()) {
    int32_t id = -1;
    const char* const end = name.data() + name.size();
    const auto [at, failure] = std::from_chars(name.data(), end, id);
    if (failure != std::errc() || at != end || id < 0 || static_cast<uint32_t>(id) >= n_vocab) {
      return bad(std::string(key) + " has the key " + shown(name) + ", expected an id from 0 to " +
                 std::to_string(n_vocab - 1));
    }
    const bool is_ban = bias == "-inf";
    if (!is_ban && !(bias.is_number() && std::fabs(bias.get<double>()) <= FLT_MAX)) {
      return bad(std::string(key) + "[" + name + "] is " + shown(bias) +
                 ", expected a finite number of f32, or \"-inf\" as a ban");
    }
    biases.push_back({id, is_ban ? -INFINITY : bias.get<float>()});
  }
  std::ranges::sort(biases, {}, &Bias::id);
  const auto twice = std::ranges::adjacent_find(biases, {}, &Bias::id);
  if (twice != biases.end())
    return bad(std::string(key) + " names id " + std::to_string(twice->id) +
               " twice, expected once");
  return biases;
}

Result<std::string_view> Parameters::word_or(const char* key,
                                             std::initializer_list<std::string_view> words) {
  known_.emplace_back(key);
  const auto at = object_.find(key);
  if (at == object_.end()) return *words.begin();
  if (at->is_string()) {
    const auto* word = std::find(words.begin(), words.end(), at->get_ref<const std::string&>());
    if (word != words.end()) return *word;
  }
  std::string expected;
  for (const std::string_view word : words)
    expected += (expected.empty() ? "\"" : " or \"") + std::string(word) + "\"";
  return bad(std::string(key) + " is " + shown(*at) + ", expected " + expected);
}

Result<void> Parameters::finish() const {
  for (const auto& item : object_.items()) {
    if (std::find(known_.begin(), known_.end(), item.key()) != known_.end()) continue;
    std::string expected;
    for (const std::string& key : known_) expected += (expected.empty() ? "" : " or ") + key;
    return bad("unknown key " + shown(item.key()) + ", expected " +
               (expected.empty() ? "no parameters" : expected));
  }
  return {};
}

}  // namespace plumbline::samplers::core
