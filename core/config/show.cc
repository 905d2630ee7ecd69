#include "core/config/show.h"

#include <nlohmann/json.hpp>

#include "core/config/scalars.h"
#include "core/config/spec.h"

namespace plumbline::config {
namespace {

using Json = nlohmann::ordered_json;
using Kind = Value::Kind;
using Type = Spec::Type;

/// A text as a YAML scalar: plain where that is safe, else in JSON's quotes, which YAML reads
/// alike.
std::string scalar(std::string_view text, bool is_quoted) {
  const bool is_plain =
      !is_quoted && !text.empty() && text != "-" && text != "~" &&
      text.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-") ==
          std::string_view::npos;
  return is_plain ? std::string(text) : Json(text).dump();
}

class YamlWriter {
 public:
  std::string take() { return std::move(out_); }

  void map(const Value& value, size_t indent) {
    for (const Entry& entry : value.entries) {
      out_.append(indent, ' ');
      key(entry, indent);
    }
  }

 private:
  /// `key: value`, at a line whose indentation is already written.
  void key(const Entry& entry, size_t indent) {
    out_ += scalar(entry.key, false) + ":";
    const Value& value = entry.value;
    if (value.kind == Kind::kMap && !value.entries.empty()) {
      out_ += "\n";
      map(value, indent + 2);
    } else if (value.kind == Kind::kList && !value.items.empty()) {
      out_ += "\n";
      for (const Value& item : value.items) list_item(item, indent + 2);
    } else {
      leaf(value);
    }
  }

  void list_item(const Value& item, size_t indent) {
    out_.append(indent, ' ');
    out_ += "-";
    if (item.kind == Kind::kMap && !item.entries.empty()) {
      for (size_t i = 0; i < item.entries.size(); ++i) {
        out_.append(i == 0 ? 1 : indent + 2, ' ');
        key(item.entries[i], indent + 2);
      }
    } else if (item.kind == Kind::kList && !item.items.empty()) {
      out_ += "\n";
      for (const Value& inner : item.items) list_item(inner, indent + 2);
    } else {
      leaf(item);
    }
  }

  void leaf(const Value& value) {
    switch (value.kind) {
      case Kind::kNull:
        out_ += " null";
        break;
      case Kind::kScalar:
        out_ += " " + scalar(value.text, value.is_quoted);
        break;
      case Kind::kList:
        out_ += " []";
        break;
      case Kind::kMap:
        out_ += " {}";
        break;
    }
    out_ += "  # " + printable(value.origin.text()) + "\n";
  }

  std::string out_;
};

/// A value with the type that its specification gives it: a name that looks like a number stays
/// text.
Json typed(const Value& value, const Spec& spec) {
  switch (spec.type) {
    case Type::kMap: {
      Json map = Json::object();
      for (const Entry& entry : value.entries)
        map[entry.key] = typed(entry.value, *spec.child(entry.key));
      return map;
    }
    case Type::kList: {
      Json list = Json::array();
      for (const Value& item : value.items) list.push_back(typed(item, spec.children[0]));
      return list;
    }
    case Type::kInteger:
      return *as_integer(value);
    case Type::kAutoInteger:
      if (const auto number = as_integer(value)) return *number;
      return value.text;
    case Type::kSwitch:
      return *as_switch(value);
    case Type::kStage:
      if (value.kind == Kind::kScalar) return value.text;
      return *as_json(value);
    case Type::kFree:
      return *as_json(value);
    default:
      return value.text;
  }
}

/// One line for each leaf of the tree.
void collect_origins(const Value& value, const std::string& path, Json& origins) {
  if (value.entries.empty() && value.items.empty()) {
    origins[path] = value.origin.text();
    return;
  }
  const std::string prefix = path.empty() ? path : path + ".";
  for (const Entry& entry : value.entries)
    collect_origins(entry.value, prefix + entry.key, origins);
  for (size_t i = 0; i < value.items.size(); ++i) {
    collect_origins(value.items[i], prefix + std::to_string(i), origins);
  }
}

}  // namespace

std::string show_yaml(const ResolvedConfig& resolved) {
  YamlWriter writer;
  writer.map(resolved.tree, 0);
  return writer.take();
}

std::string show_json(const ResolvedConfig& resolved) {
  Json origins = Json::object();
  collect_origins(resolved.tree, "", origins);
  const Json shown{{"config", typed(resolved.tree, pipeline_spec())},
                   {"origins", std::move(origins)}};
  return shown.dump(2) + "\n";
}

}  // namespace plumbline::config
