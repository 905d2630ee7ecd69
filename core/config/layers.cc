#include "core/config/layers.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "core/config/check.h"
#include "core/config/spec.h"
#include "core/config/yaml.h"

namespace plumbline::config {
namespace {

struct Override {
  std::vector<std::string> path;
  Value value;
};

std::optional<size_t> as_index(std::string_view part) {
  size_t index = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), index);
  if (error != std::errc() || end != part.data() + part.size()) return std::nullopt;
  return index;
}

bool has_index(const Override& override) {
  return std::any_of(override.path.begin(), override.path.end(),
                     [](const std::string& part) { return as_index(part).has_value(); });
}

Result<Override> parse_override(const std::string& text) {
  const size_t equals = text.find('=');
  const std::string path = text.substr(0, equals);
  const Origin origin{std::make_shared<const std::string>("--set " + path)};
  const auto malformed = [&] {
    return Error{PLUMB_INVALID_CONFIG,
                 "--set " + text + ": expected KEY=VALUE, such as sampling.seed=3"};
  };
  if (equals == std::string::npos) return malformed();
  Override override;
  for (size_t at = 0; at <= path.size();) {
    const size_t dot = std::min(path.find('.', at), path.size());
    override.path.push_back(path.substr(at, dot - at));
    if (override.path.back().empty() || override.path.size() > kDepthMax) return malformed();
    at = dot + 1;
  }
  if (override.path.front() == "extends") {
    return Error{
        PLUMB_INVALID_CONFIG,
        origin.text() + ": what a file extends is said in the file; name the other file instead"};
  }
  PLUMB_ASSIGN(override.value, parse_yaml_value(std::string_view(text).substr(equals + 1), origin));
  return override;
}

/// {a: {b: value}} of the path a.b.
Value nested(const std::vector<std::string>& path, Value value) {
  const Origin origin = value.origin;
  for (auto part = path.rbegin(); part != path.rend(); ++part) {
    Value map = Value::make(Value::Kind::kMap, origin);
    map.entries.push_back({*part, origin, std::move(value)});
    value = std::move(map);
  }
  return value;
}

Result<void> replace_at(Value& tree, Override override) {
  Value* place = &tree;
  std::string walked;
  for (const std::string& part : override.path) {
    const auto index = as_index(part);
    if (index && place->kind == Value::Kind::kList) {
      if (*index >= place->items.size()) {
        return Error{PLUMB_INVALID_CONFIG, override.value.origin.text() + ": index " + part +
                                               ", but the list " + walked + " has " +
                                               std::to_string(place->items.size()) + " entries"};
      }
      place = &place->items[*index];
    } else if (place->kind != Value::Kind::kMap) {
      return Error{PLUMB_INVALID_CONFIG, override.value.origin.text() + ": " +
                                             (walked.empty() ? "the config" : walked) + " is " +
                                             place->shown() + ", which has no \"" + part + "\""};
    } else {
      if (place->find(part) == nullptr) {
        if (index) {
          return Error{PLUMB_INVALID_CONFIG, override.value.origin.text() + ": " + walked +
                                                 " is no list, which index " + part + " expects"};
        }
        place->entries.push_back(
            {part, override.value.origin, Value::make(Value::Kind::kMap, override.value.origin)});
      }
      place = place->find(part);
    }
    walked += (walked.empty() ? "" : ".") + part;
  }
  *place = std::move(override.value);
  return {};
}

}  // namespace

void add_layer(Value& tree, Value layer) {
  for (const Exclusion& exclusion : exclusions()) {
    if (layer.at(exclusion.key) == nullptr) continue;
    for (const std::string_view undone : exclusion.undoes) tree.erase(undone);
  }
  merge(tree, std::move(layer));
}

Result<void> apply_overrides(Value& tree, const std::vector<std::string>& overrides) {
  std::vector<Override> indexed;
  Value layer = Value::make(Value::Kind::kMap, {});
  for (const std::string& text : overrides) {
    PLUMB_ASSIGN(Override override, parse_override(text));
    if (has_index(override)) {
      indexed.push_back(std::move(override));
    } else {
      merge(layer, nested(override.path, std::move(override.value)));
    }
  }
  Problems problems;
  check_exclusions(layer, problems);
  if (!problems.empty()) return problems.take();
  add_layer(tree, std::move(layer));
  for (Override& override : indexed) PLUMB_TRY(replace_at(tree, std::move(override)));
  return {};
}

}  // namespace plumbline::config
