#include "core/runner/op_map.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/config/check.h"
#include "core/config/spec.h"
#include "core/config/yaml.h"
#include "plumb/sdk/nearest_name.h"

namespace plumbline::runner {
namespace {

using config::Spec;
using config::Value;

constexpr std::string_view kLayer = "{L}";

const Spec& map_spec() {
  using Type = Spec::Type;
  static const Spec step{.name = "transform", .type = Type::kStage, .doc = "One step."};
  static const Spec steps{.name = "transform",
                          .type = Type::kList,
                          .doc = "What makes a row of theirs a row of ours.",
                          .fallback = "[]",
                          .children = {step}};
  static const Spec part{
      .name = "part",
      .doc = "A tap with transforms of its own.",
      .children = {{.name = "tap", .type = Type::kText, .doc = "Its name.", .is_required = true},
                   steps}};
  static const Spec region{
      .name = "region",
      .doc = "One op of ours.",
      .children = {{.name = "ours", .type = Type::kName, .doc = "The op.", .is_required = true},
                   {.name = "theirs", .type = Type::kText, .doc = "The tap."},
                   {.name = "parts",
                    .type = Type::kList,
                    .doc = "Several taps, side by side in each row.",
                    .fallback = "[]",
                    .children = {part}},
                   steps}};
  static const Spec map{.name = "map",
                        .doc = "Which tensors of a foreign engine are which of our ops.",
                        .children = {{.name = "plumb_map",
                                      .type = Type::kInteger,
                                      .doc = "Version of this language.",
                                      .is_required = true,
                                      .min = 1,
                                      .max = 1},
                                     {.name = "architecture",
                                      .type = Type::kName,
                                      .doc = "The models that it is for.",
                                      .is_required = true},
                                     {.name = "regions",
                                      .type = Type::kList,
                                      .doc = "The ops.",
                                      .is_required = true,
                                      .children = {region}}}};
  return map;
}

Error wrong(const Value& at, const std::string& what) {
  return {PLUMB_INVALID_CONFIG, at.origin.text() + ": " + what};
}

/// Fills a template's {L}.
std::string at_layer(std::string text, uint32_t layer) {
  for (size_t at; (at = text.find(kLayer)) != text.npos;)
    text.replace(at, kLayer.size(), std::to_string(layer));
  return text;
}

class Resolver {
 public:
  explicit Resolver(const MappedModel& model) : model_(model) {
    for (const TapInfo& tap : model.taps) taps_.emplace(tap.name, tap.width);
  }

  Result<std::vector<MappedOp>> resolve(const Value& map) {
    const Value& architecture = *map.find("architecture");
    if (architecture.text != model_.architecture) {
      return wrong(architecture, "a map for " + architecture.shown() + ", but the model is " +
                                     config::printable(model_.architecture));
    }
    for (const Value& region : map.find("regions")->items) {
      const bool is_layered = has_layer(region);
      const uint32_t n = is_layered ? model_.n_layers : 1;
      for (uint32_t layer = 0; layer < n; ++layer) PLUMB_TRY(add(region, layer, is_layered));
    }
    return std::move(mapped_);
  }

 private:
  static bool has_layer(const Value& region) {
    const Value* theirs = region.find("theirs");
    if (theirs != nullptr && theirs->text.find(kLayer) != std::string::npos) return true;
    return std::ranges::any_of(region.find("parts")->items, [](const Value& part) {
      return part.find("tap")->text.find(kLayer) != std::string::npos;
    });
  }

  Result<void> add(const Value& region, uint32_t layer, bool is_layered) {
    const Value& ours = *region.find("ours");
    MappedOp op{.name = is_layered ? std::to_string(layer) + "." + ours.text : ours.text};
    if (!names_.insert(op.name).second) return wrong(ours, "op " + op.name + " is mapped twice");
    const Value* theirs = region.find("theirs");
    const std::vector<Value>& parts = region.find("parts")->items;
    if ((theirs != nullptr) == !parts.empty())
      return wrong(region, "expected either theirs or parts");
    if (theirs != nullptr) PLUMB_TRY(add_part(op, *theirs, region.find("transform")->items, layer));
    for (const Value& part : parts)
      PLUMB_TRY(add_part(op, *part.find("tap"), part.find("transform")->items, layer));
    if (theirs == nullptr && !region.find("transform")->items.empty())
      return wrong(*region.find("transform"), "beside parts, which have their own");
    mapped_.push_back(std::move(op));
    return {};
  }

  Result<void> add_part(MappedOp& op, const Value& tap, const std::vector<Value>& steps,
                        uint32_t layer) {
    MappedPart part{.tap = at_layer(tap.text, layer)};
    const auto offered = taps_.find(part.tap);
    if (offered == taps_.end()) {
      return wrong(tap, "the runner offers no tap \"" + config::printable(part.tap) + "\"" +
                            did_you_mean(part.tap, tap_names()));
    }
    part.tap_width = part.width = offered->second;
    for (const Value& step : steps) {
      PLUMB_ASSIGN(const Transform made, make_transform(step, part.width, model_.sizes));
      part.width = made.row_width();
      part.transforms.push_back(made);
    }
    op.width += part.width;  // each is at most 2^24, and a file has few parts
    op.parts.push_back(std::move(part));
    return {};
  }

  std::vector<std::string_view> tap_names() const {
    std::vector<std::string_view> names;
    for (const auto& [name, width] : taps_) names.push_back(name);
    return names;
  }

  const MappedModel& model_;
  std::map<std::string, uint32_t> taps_;
  std::set<std::string> names_;
  std::vector<MappedOp> mapped_;
};

}  // namespace

Result<std::vector<MappedOp>> read_op_map(const std::string& path, const MappedModel& model) {
  PLUMB_ASSIGN(Value map, config::read_yaml_file(path));
  config::Problems problems;
  config::check_values(map, map_spec(), problems);
  if (problems.empty()) config::complete(map, map_spec(), problems);
  if (!problems.empty()) return problems.take();
  return Resolver(model).resolve(map);
}

void make_row(const MappedOp& op, std::span<const std::span<const float>> taps,
              std::vector<float>& scratch, std::span<float> out) {
  size_t at = 0;
  for (size_t i = 0; i < op.parts.size(); ++i) {
    const MappedPart& part = op.parts[i];
    const std::span<float> to = out.subspan(at, part.width);
    std::vector<float> row(taps[i].begin(), taps[i].end());
    for (const Transform& transform : part.transforms) {
      scratch.resize(transform.row_width());
      apply(transform, row, scratch);
      row.swap(scratch);
    }
    std::copy(row.begin(), row.end(), to.begin());
    at += part.width;
  }
}

}  // namespace plumbline::runner
