// spec.h: the one table of keys: names, types, limits, defaults, documentation. Parsing, defaults,
// suggestions, `config show` and the JSON Schema are all driven by it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline::config {

struct Spec {
  enum class Type {
    kMap,  // children are its keys
    kList,  // children[0] is each item's specification
    kText,  // any text but the empty one
    kName,  // of a plugin, stage, package, profile: letters, digits, . _ -
    kChoice,  // one of choices
    kInteger,  // min..max
    kAutoInteger,  // auto, or min..max
    kSwitch,  // true or false
    kSha256,  // 64 hexadecimal digits
    kLayers,  // all, "3" or "3-5"
    kStage,  // a sampler stage: `name`, or `name: {parameters}` with an optional `plugin`
    kFree,  // a map that a plugin checks
  };

  std::string_view name = {};
  Type type = Type::kMap;
  std::string_view doc = {};
  std::string_view fallback = {};  // the default, of lists and maps as JSON; empty: none
  bool is_required = false;
  uint64_t min = 0;
  uint64_t max = 0;
  std::vector<std::string_view> choices = {};
  std::vector<Spec> children = {};

  const Spec* child(std::string_view key) const;
  std::vector<std::string_view> child_names() const;
};

/// What sampling.profile and sampling.draw are where a config leaves them open; not in the table,
/// since they hold only where the stages do.
inline constexpr std::string_view kDefaultProfile = "balanced";
inline constexpr std::string_view kDefaultDraw = "cdf";

/// The whole language of a pipeline config.
const Spec& pipeline_spec();

/// What a key says about others. A later layer's key undoes what earlier layers said by the ones it
/// undoes; in one layer the ones it contradicts may not stand beside it.
struct Exclusion {
  std::string_view key;
  std::vector<std::string_view> undoes;
  std::vector<std::string_view> contradicts;
};
const std::vector<Exclusion>& exclusions();

}  // namespace plumbline::config
