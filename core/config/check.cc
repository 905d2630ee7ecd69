#include "core/config/check.h"

#include <nlohmann/json.hpp>

#include "core/config/scalars.h"
#include "plumb/sdk/nearest_name.h"

namespace plumbline::config {
namespace {

using Kind = Value::Kind;
using Type = Spec::Type;

std::string joined(const std::vector<std::string_view>& names) {
  std::string out;
  for (const std::string_view name : names) {
    if (!out.empty()) out += ", ";
    out += name;
  }
  return out;
}

std::string range(const Spec& spec) {
  const std::string from = "an integer from " + std::to_string(spec.min);
  if (spec.min == spec.max) return "the integer " + std::to_string(spec.min);
  return spec.max == UINT64_MAX ? from + " to 2^64-1" : from + " to " + std::to_string(spec.max);
}

/// What the specification expects of a value: "auto or an integer from 1 to 1024".
std::string expectation(const Spec& spec) {
  switch (spec.type) {
    case Type::kMap:
      return "a map with " + joined(spec.child_names());
    case Type::kList:
      return "a list";
    case Type::kText:
      return "a text that is not empty";
    case Type::kName:
      return "a name (letters, digits, . _ -)";
    case Type::kChoice:
      return spec.choices.size() == 1 ? std::string(spec.choices[0])
                                      : "one of " + joined(spec.choices);
    case Type::kInteger:
      return range(spec);
    case Type::kAutoInteger:
      return "auto or " + range(spec);
    case Type::kSwitch:
      return "true or false";
    case Type::kSha256:
      return "64 hexadecimal digits in lower case";
    case Type::kLayers:
      return "all, a layer (3), or a range of layers (3-5)";
    case Type::kStage:
      return "a stage's name, or one stage: `name: {parameters}`";
    case Type::kFree:
      return "a map";
  }
  return {};
}

/// Walks a tree beside its specification; path is the key's full name for messages.
class Checker {
 public:
  explicit Checker(Problems& problems) : problems_(problems) {}

  void check(const Value& value, const Spec& spec, const std::string& path) {
    switch (spec.type) {
      case Type::kMap:
        return check_map(value, spec, path);
      case Type::kList:
        return check_list(value, spec, path);
      case Type::kStage:
        return check_stage(value, spec, path);
      case Type::kFree:
        return check_free(value, spec, path);
      default:
        return check_scalar(value, spec, path);
    }
  }

 private:
  void wrong(const Value& value, const Spec& spec, const std::string& path,
             const std::string& hint = {}) {
    problems_.add(value.origin, (path.empty() ? std::string("config") : path) + ": " +
                                    value.shown() + ", expected " + expectation(spec) + hint);
  }

  void check_map(const Value& value, const Spec& spec, const std::string& path) {
    if (value.kind != Kind::kMap) return wrong(value, spec, path);
    for (const Entry& entry : value.entries) {
      if (const Spec* child = spec.child(entry.key)) {
        check(entry.value, *child, path.empty() ? entry.key : path + "." + entry.key);
      } else {
        const auto names = spec.child_names();
        problems_.add(entry.key_origin, "unknown key \"" + printable(entry.key) + "\"" +
                                            (path.empty() ? "" : " in " + path) +
                                            ", expected one of " + joined(names) +
                                            did_you_mean(entry.key, names));
      }
    }
  }

  void check_list(const Value& value, const Spec& spec, const std::string& path) {
    if (value.kind != Kind::kList) return wrong(value, spec, path);
    for (size_t i = 0; i < value.items.size(); ++i) {
      check(value.items[i], spec.children[0], path + "." + std::to_string(i));
    }
  }

  void check_scalar(const Value& value, const Spec& spec, const std::string& path) {
    if (value.kind != Kind::kScalar) return wrong(value, spec, path);
    switch (spec.type) {
      case Type::kText:
        if (value.text.empty()) wrong(value, spec, path);
        return;
      case Type::kName:
        if (!is_name(value.text)) wrong(value, spec, path);
        return;
      case Type::kChoice:
        for (const std::string_view choice : spec.choices) {
          if (value.text == choice) return;
        }
        return wrong(value, spec, path, did_you_mean(value.text, spec.choices));
      case Type::kSwitch:
        if (!as_switch(value)) wrong(value, spec, path);
        return;
      case Type::kAutoInteger:
        if (value.text == kAuto) return;
        [[fallthrough]];
      case Type::kInteger: {
        const auto number = as_integer(value);
        if (!number || *number < spec.min || *number > spec.max) wrong(value, spec, path);
        return;
      }
      case Type::kSha256:
        if (!is_sha256(value.text)) wrong(value, spec, path);
        return;
      case Type::kLayers:
        if (!as_layers(value.text)) wrong(value, spec, path);
        return;
      default:
        return;
    }
  }

  void check_stage(const Value& value, const Spec& spec, const std::string& path) {
    if (value.kind == Kind::kScalar && is_name(value.text)) return;
    if (value.kind != Kind::kMap) return wrong(value, spec, path);
    const Entry* stage = nullptr;
    for (const Entry& entry : value.entries) {
      if (entry.key == "plugin") {
        if (entry.value.kind != Kind::kScalar || !is_name(entry.value.text)) {
          problems_.add(entry.value.origin, path + ".plugin: " + entry.value.shown() +
                                                ", expected a name (letters, digits, . _ -)");
        }
      } else if (stage != nullptr) {
        problems_.add(entry.key_origin, path + ": stages \"" + stage->key + "\" and \"" +
                                            entry.key +
                                            "\" in one entry, expected a list entry for each");
        return;
      } else {
        stage = &entry;
      }
    }
    if (stage == nullptr || !is_name(stage->key)) return wrong(value, spec, path);
    static const Spec parameters{.name = "parameters", .type = Type::kFree};
    check_free(stage->value, parameters, path + "." + stage->key);
  }

  void check_free(const Value& value, const Spec& spec, const std::string& path) {
    if (value.kind != Kind::kMap) return wrong(value, spec, path);
    if (!as_json(value))
      problems_.add(value.origin, path + ": an infinite number or NaN, expected finite numbers");
  }

  Problems& problems_;
};

Value default_value(const Spec& spec) {
  static const auto source = std::make_shared<const std::string>("default");
  const Origin origin{source};
  if (spec.type == Type::kFree) return Value::make(Kind::kMap, origin);
  if (spec.type == Type::kList) {
    Value list = Value::make(Kind::kList, origin);
    for (const auto& item : nlohmann::json::parse(spec.fallback)) {
      list.items.push_back(Value::make(Kind::kScalar, origin, item.get<std::string>()));
      list.items.back().is_quoted = true;
    }
    return list;
  }
  return Value::make(Kind::kScalar, origin, spec.fallback);
}

void complete_at(Value& value, const Spec& spec, const std::string& path, Problems& problems) {
  if (spec.type == Type::kList) {
    for (size_t i = 0; i < value.items.size(); ++i) {
      complete_at(value.items[i], spec.children[0], path + "." + std::to_string(i), problems);
    }
    return;
  }
  if (spec.type != Type::kMap) return;
  // In the order of the specification, whatever order the layers had.
  std::vector<Entry> ordered;
  for (const Spec& child : spec.children) {
    const std::string child_path =
        path.empty() ? std::string(child.name) : path + "." + std::string(child.name);
    Entry entry{std::string(child.name), value.origin, {}};
    if (Value* there = value.find(child.name)) {
      entry.value = std::move(*there);
    } else if (child.type == Type::kMap) {
      entry.value = Value::make(Kind::kMap, value.origin);
    } else if (!child.fallback.empty()) {
      entry.value = default_value(child);
    } else {
      if (child.is_required) {
        problems.add(value.origin, "no " + child_path + ", expected " + expectation(child));
      }
      continue;
    }
    complete_at(entry.value, child, child_path, problems);
    ordered.push_back(std::move(entry));
  }
  value.entries = std::move(ordered);
}

}  // namespace

void check_values(const Value& tree, const Spec& spec, Problems& problems) {
  Checker(problems).check(tree, spec, "");
}

void check_exclusions(const Value& layer, Problems& problems) {
  for (const Exclusion& exclusion : exclusions()) {
    const Value* key = layer.at(exclusion.key);
    if (key == nullptr) continue;
    for (const std::string_view other_path : exclusion.contradicts) {
      if (const Value* other = layer.at(other_path)) {
        problems.add(other->origin, std::string(other_path) + " beside " +
                                        std::string(exclusion.key) + " (" + key->origin.text() +
                                        "), expected one of the two");
      }
    }
  }
}

void complete(Value& tree, const Spec& spec, Problems& problems) {
  complete_at(tree, spec, "", problems);
}

}  // namespace plumbline::config
