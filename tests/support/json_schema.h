// json_schema.h: whether a document is what a published schema says; as much of JSON Schema 2020-12
// as the schemas of this repository use. A keyword that is not known here is a failure itself.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

namespace plumbline::test {

class JsonSchema {
 public:
  explicit JsonSchema(nlohmann::json schema) : root_(std::move(schema)) {}

  /// One line for each place where the document is not as the schema says: "/doors/20 ops/0: ...".
  std::vector<std::string> violations(const nlohmann::json& document) const {
    std::vector<std::string> found;
    check(root_, document, "", found);
    return found;
  }

 private:
  using Json = nlohmann::json;

  static bool is_type(const Json& value, const std::string& type) {
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    if (type == "null") return value.is_null();
    return value.type_name() == type;
  }

  bool accepts(const Json& schema, const Json& value) const {
    std::vector<std::string> found;
    check(schema, value, "", found);
    return found.empty();
  }

  void check(const Json& schema, const Json& value, const std::string& at,
             std::vector<std::string>& found) const {
    const auto expect = [&](bool holds, const std::string& what) {
      if (!holds)
        found.push_back(at + ": expected " + what + ", found " + value.dump().substr(0, 80));
    };
    for (const auto& [key, rule] : schema.items()) {
      if (key == "$ref") {
        check(root_.at(Json::json_pointer(rule.get<std::string>().substr(1))), value, at, found);
      } else if (key == "type") {
        const std::vector<std::string> types =
            rule.is_array() ? rule.get<std::vector<std::string>>()
                            : std::vector<std::string>{rule.get<std::string>()};
        expect(std::ranges::any_of(types, [&](const auto& t) { return is_type(value, t); }),
               rule.dump());
      } else if (key == "const") {
        expect(value == rule, rule.dump());
      } else if (key == "enum") {
        expect(std::ranges::find(rule, value) != rule.end(), "one of " + rule.dump());
      } else if (key == "anyOf") {
        expect(std::ranges::any_of(rule, [&](const Json& one) { return accepts(one, value); }),
               "any of " + rule.dump());
      } else if (key == "minimum") {
        expect(!value.is_number() || value >= rule, "at least " + rule.dump());
      } else if (key == "maximum") {
        expect(!value.is_number() || value <= rule, "at most " + rule.dump());
      } else if (key == "pattern") {
        expect(!value.is_string() ||
                   std::regex_search(value.get<std::string>(), std::regex(rule.get<std::string>())),
               rule.dump());
      } else if (key == "minItems") {
        expect(!value.is_array() || value.size() >= rule, "at least " + rule.dump() + " items");
      } else if (key == "maxItems") {
        expect(!value.is_array() || value.size() <= rule, "at most " + rule.dump() + " items");
      } else if (key == "items") {
        for (size_t i = 0; value.is_array() && i < value.size(); ++i)
          check(rule, value[i], at + "/" + std::to_string(i), found);
      } else if (key == "required") {
        for (const Json& name : rule)
          expect(!value.is_object() || value.contains(name.get<std::string>()), name.dump());
      } else if (key == "properties") {
        for (const auto& [name, one] : rule.items()) {
          if (value.is_object() && value.contains(name))
            check(one, value[name], at + "/" + name, found);
        }
      } else if (key == "additionalProperties") {
        check_additional(schema, rule, value, at, found);
      } else {
        static const std::vector<std::string> prose = {"$schema", "$id", "$defs", "title",
                                                       "description"};
        if (std::ranges::find(prose, key) == prose.end())
          found.push_back(at + ": the schema's keyword " + key + " is not known to this test");
      }
    }
  }

  void check_additional(const Json& schema, const Json& rule, const Json& value,
                        const std::string& at, std::vector<std::string>& found) const {
    if (!value.is_object()) return;
    for (const auto& [name, one] : value.items()) {
      if (schema.contains("properties") && schema["properties"].contains(name)) continue;
      if (rule == false) {
        found.push_back(at + ": no property " + name + " is expected");
      } else if (rule.is_object()) {
        check(rule, one, at + "/" + name, found);
      }
    }
  }

  Json root_;
};

}  // namespace plumbline::test
