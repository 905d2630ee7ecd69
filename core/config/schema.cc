#include <nlohmann/json.hpp>

#include "core/config/pipeline_config.h"
#include "core/config/show.h"
#include "core/config/spec.h"

namespace plumbline::config {
namespace {

using Json = nlohmann::ordered_json;
using Type = Spec::Type;

Json integer_schema(const Spec& spec) {
  return {{"type", "integer"}, {"minimum", spec.min}, {"maximum", spec.max}};
}

Json type_schema(const Spec& spec);

Json described(const Spec& spec) {
  Json schema = type_schema(spec);
  schema["description"] = spec.doc;
  if (spec.fallback.empty()) return schema;
  const bool is_text = spec.type != Type::kInteger && spec.type != Type::kSwitch &&
                       spec.type != Type::kList && spec.type != Type::kFree;
  schema["default"] = is_text ? Json(spec.fallback) : Json::parse(spec.fallback);
  return schema;
}

Json map_schema(const Spec& spec) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const Spec& child : spec.children) {
    properties[child.name] = described(child);
    if (child.is_required) required.push_back(child.name);
  }
  Json schema{
      {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

Json stage_schema() {
  const Json name{{"type", "string"}};
  const Json with_parameters{{"type", "object"},
                             {"properties", {{"plugin", name}}},
                             {"additionalProperties", {{"type", "object"}}},
                             {"minProperties", 1},
                             {"maxProperties", 2}};
  return {{"anyOf", Json::array({name, with_parameters})}};
}

Json type_schema(const Spec& spec) {
  switch (spec.type) {
    case Type::kMap:
      return map_schema(spec);
    case Type::kList:
      return {{"type", "array"}, {"items", described(spec.children[0])}};
    case Type::kText:
      return {{"type", "string"}, {"minLength", 1}};
    case Type::kName:
      return {{"type", "string"}, {"pattern", "^[A-Za-z0-9_][A-Za-z0-9._-]*$"}};
    case Type::kChoice:
      return {{"enum", spec.choices}};
    case Type::kInteger:
      return integer_schema(spec);
    case Type::kAutoInteger:
      return {{"anyOf", Json::array({Json{{"const", kAuto}}, integer_schema(spec)})}};
    case Type::kSwitch:
      return {{"type", "boolean"}};
    case Type::kSha256:
      return {{"type", "string"}, {"pattern", "^[0-9a-f]{64}$"}};
    case Type::kLayers:
      return {
          {"anyOf", Json::array({Json{{"type", "string"}, {"pattern", "^(all|[0-9]+(-[0-9]+)?)$"}},
                                 Json{{"type", "integer"}, {"minimum", 0}}})}};
    case Type::kStage:
      return stage_schema();
    case Type::kFree:
      return {{"type", "object"}};
  }
  return {};
}

/// The schema of the map that holds a key: "model.source.path" -> that of model.source.
Json& parent_schema(Json& root, std::string_view path) {
  Json* schema = &root;
  for (size_t dot; (dot = path.find('.')) != std::string_view::npos; path.remove_prefix(dot + 1)) {
    schema = &(*schema)["properties"][std::string(path.substr(0, dot))];
  }
  return *schema;
}

std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('.') + 1);
}

}  // namespace

std::string json_schema() {
  Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
              {"title", "Plumbline pipeline"}};
  schema.update(described(pipeline_spec()));
  for (const Exclusion& exclusion : exclusions()) {
    for (const std::string_view other : exclusion.contradicts) {
      parent_schema(schema, exclusion.key)["allOf"].push_back(
          {{"not", {{"required", {last_part(exclusion.key), last_part(other)}}}}});
    }
  }
  return schema.dump(2) + "\n";
}

}  // namespace plumbline::config
