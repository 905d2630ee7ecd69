#include "core/config/load.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/config/bind.h"
#include "core/config/check.h"
#include "core/config/layers.h"
#include "core/config/scalars.h"
#include "core/config/yaml.h"
#include "plumb/sdk/nearest_name.h"

namespace plumbline::config {
namespace {

namespace fs = std::filesystem;

constexpr size_t kExtendsMax = 16;

Result<void> checked(const Problems& problems) {
  if (!problems.empty()) return problems.take();
  return {};
}

/// A file as one layer: parsed, and right as far as it goes.
Result<Value> read_layer(const std::string& path) {
  PLUMB_ASSIGN(Value layer, read_yaml_file(path));
  Problems problems;
  check_values(layer, pipeline_spec(), problems);
  if (layer.kind == Value::Kind::kMap && layer.find("plumbline") == nullptr) {
    problems.add(layer.origin,
                 "no plumbline, expected `plumbline: 1`, the version of the config language");
  }
  if (problems.empty()) check_exclusions(layer, problems);
  PLUMB_TRY(checked(problems));
  return layer;
}

std::string beside(const std::string& file, const std::string& path) {
  return (fs::path(file).parent_path() / path).lexically_normal().string();
}

/// The file and all that it extends, merged. chain: the files on the way here.
Result<Value> read_extending(const std::string& path, std::vector<std::string>& chain) {
  chain.push_back(path);
  PLUMB_ASSIGN(Value layer, read_layer(path));
  const Value* extends = layer.find("extends");
  if (extends == nullptr) return layer;
  const std::string base_path = beside(path, extends->text);
  const std::string place = extends->origin.text() + ": extends " + extends->shown();
  for (const std::string& above : chain) {
    std::error_code ignored;
    if (above == base_path || fs::equivalent(above, base_path, ignored)) {
      return Error{PLUMB_INVALID_CONFIG, place + ", which extends this file: a cycle"};
    }
  }
  if (chain.size() >= kExtendsMax) {
    return Error{PLUMB_INVALID_CONFIG,
                 place + ", expected a chain of at most " + std::to_string(kExtendsMax) + " files"};
  }
  auto base = read_extending(base_path, chain);
  if (!base) {
    if (base.error().code == PLUMB_NOT_FOUND)
      return Error{PLUMB_NOT_FOUND, place + ": " + base.error().message};
    return std::move(base).error();
  }
  layer.erase("extends");
  add_layer(*base, std::move(layer));
  return std::move(*base);
}

/// Names of the presets in the folders, sorted.
std::vector<std::string> preset_names(const std::vector<std::string>& folders) {
  std::vector<std::string> names;
  for (const std::string& folder : folders) {
    std::error_code ignored;
    for (const auto& file : fs::directory_iterator(folder, ignored)) {
      if (file.path().extension() == ".yaml") names.push_back(file.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Error unknown_profile(const Value& profile, const std::vector<std::string>& folders) {
  const std::vector<std::string> names = preset_names(folders);
  const std::vector<std::string_view> views(names.begin(), names.end());
  std::string text = profile.origin.text() + ": sampling.profile: " + profile.shown();
  if (names.empty()) {
    text += ", but there is no preset in";
    for (const std::string& folder : folders) text += " " + folder;
    if (folders.empty()) text += " the empty list of folders";
  } else {
    text += ", expected one of";
    for (size_t i = 0; i < names.size(); ++i) text += (i == 0 ? " " : ", ") + names[i];
    text += did_you_mean(profile.text, views);
  }
  return {PLUMB_INVALID_CONFIG, std::move(text)};
}

void mark_preset(Value& value, const std::string& name) {
  value.origin.preset = name;
  for (Value& item : value.items) mark_preset(item, name);
  for (Entry& entry : value.entries) mark_preset(entry.value, name);
}

/// The stages of a preset: a config that says sampling.stages and nothing else.
Result<Value> read_preset(const Value& profile, const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    const std::string path = (fs::path(folder) / (profile.text + ".yaml")).string();
    if (std::error_code ignored; !fs::exists(path, ignored)) continue;
    PLUMB_ASSIGN(Value layer, read_layer(path));
    Value* stages = layer.at("sampling.stages");
    if (stages == nullptr || layer.entries.size() != 2 ||
        layer.find("sampling")->entries.size() != 1) {
      return Error{PLUMB_INVALID_CONFIG,
                   path + ": a preset holds plumbline and sampling.stages, nothing else"};
    }
    mark_preset(*stages, profile.text);
    return std::move(*stages);
  }
  return unknown_profile(profile, folders);
}

Value default_scalar(std::string_view text) {
  return Value::make(Value::Kind::kScalar, {std::make_shared<const std::string>("default")}, text);
}

/// A stage's parameters with some replaced, where it is the one that is named.
bool tune_stage(Value& stage, const std::string& name, const Value& parameters) {
  if (stage.kind == Value::Kind::kScalar && stage.text == name) {
    Origin origin = stage.origin;
    stage = Value::make(Value::Kind::kMap, origin);
    stage.entries.push_back({name, origin, Value::make(Value::Kind::kMap, origin)});
  }
  Value* under = stage.find(name);
  if (under == nullptr) return false;
  merge(*under, parameters);
  return true;
}

/// Puts the parameters of sampling.tune in the place of the stages' own.
Result<void> tune(Value& sampling) {
  const Value* tuned = sampling.find("tune");
  if (tuned == nullptr) return {};
  Value& stages = *sampling.find("stages");
  for (const Entry& entry : tuned->entries) {
    const std::string place = entry.key_origin.text() + ": sampling.tune." + entry.key;
    if (entry.value.kind != Value::Kind::kMap) {
      return Error{PLUMB_INVALID_CONFIG,
                   place + ": " + entry.value.shown() + ", expected a map of parameters"};
    }
    std::vector<std::string> names;
    bool is_used = false;
    for (Value& stage : stages.items) {
      is_used |= tune_stage(stage, entry.key, entry.value);
      if (stage.kind == Value::Kind::kScalar) names.push_back(stage.text);
      for (const Entry& part : stage.entries) {
        if (part.key != "plugin") names.push_back(part.key);
      }
    }
    if (is_used) continue;
    std::string text = place + ": no such stage, expected one of";
    for (size_t i = 0; i < names.size(); ++i) text += (i == 0 ? " " : ", ") + names[i];
    const std::vector<std::string_view> views(names.begin(), names.end());
    return Error{PLUMB_INVALID_CONFIG, text + did_you_mean(entry.key, views)};
  }
  return {};
}

/// Puts the profile's stages in the tree, the draw that was chosen in the place of `draw`, and what
/// is tuned in its place.
Result<void> expand_sampling(Value& tree, const std::vector<std::string>& folders) {
  Value& sampling = *tree.find("sampling");
  if (sampling.find("stages") == nullptr) {
    if (sampling.find("profile") == nullptr) {
      sampling.entries.push_back({"profile", sampling.origin, default_scalar(kDefaultProfile)});
    }
    PLUMB_ASSIGN(Value stages, read_preset(*sampling.find("profile"), folders));
    sampling.entries.push_back({"stages", sampling.origin, std::move(stages)});
  }
  const Value* chosen = sampling.find("draw");
  const Value draw = chosen == nullptr ? default_scalar(kDefaultDraw) : *chosen;
  bool is_used = false;
  for (Value& stage : sampling.find("stages")->items) {
    if (stage.kind == Value::Kind::kScalar && stage.text == "draw") {
      stage = draw;
      is_used = true;
    }
  }
  if (chosen != nullptr && !is_used) {
    return Error{PLUMB_INVALID_CONFIG,
                 chosen->origin.text() + ": sampling.draw: " + chosen->shown() +
                     ", but no stage `draw` stands for it: the stages draw by themselves"};
  }
  return tune(sampling);
}

/// A path that a file states is relative to that file.
void join_path(Value& path) {
  if (path.origin.line != 0) path.text = beside(*path.origin.source, path.text);
}

/// The same for a program; a word without a slash is a name, of an installed runner or in PATH.
void join_program(Value& program) {
  if (program.text.find('/') == std::string::npos) return;
  join_path(program);
  if (program.text.find('/') == std::string::npos) program.text = "./" + program.text;
}

}  // namespace

std::string ResolvedConfig::origin(std::string_view path) const {
  const Value* value = tree.at(path);
  return value == nullptr ? "unknown" : value->origin.text();
}

Result<ResolvedConfig> load_config(const LoadRequest& request) {
  std::vector<std::string> chain;
  PLUMB_ASSIGN(Value tree, read_extending(request.file, chain));
  for (const std::string& key : request.dropped) tree.erase(key);
  PLUMB_TRY(apply_overrides(tree, request.overrides));

  Problems problems;
  check_values(tree, pipeline_spec(), problems);
  if (problems.empty()) complete(tree, pipeline_spec(), problems);
  PLUMB_TRY(checked(problems));
  PLUMB_TRY(expand_sampling(tree, request.preset_folders));
  check_contradictions(tree, problems);
  PLUMB_TRY(checked(problems));

  for (const char* key : {"model.source.path", "tokenizer.path", "template.path"}) {
    if (Value* path = tree.at(key)) join_path(*path);
  }
  for (Value& path : tree.at("plugins.paths")->items) join_path(path);
  if (Value& map = *tree.at("runner.map"); map.text != kAuto) join_path(map);
  for (const char* key : {"runner.name", "runner.python"}) join_program(*tree.at(key));
  ResolvedConfig resolved;
  resolved.config = bind(tree);
  // The tree says the same without them, and can be loaded again.
  tree.erase("sampling.profile");
  tree.erase("sampling.draw");
  tree.erase("sampling.tune");
  resolved.tree = std::move(tree);
  return resolved;
}

Result<ResolvedConfig> resolve_tree(Value tree) {
  Problems problems;
  check_values(tree, pipeline_spec(), problems);
  if (problems.empty()) complete(tree, pipeline_spec(), problems);
  if (problems.empty()) check_exclusions(tree, problems);
  if (problems.empty()) check_contradictions(tree, problems);
  PLUMB_TRY(checked(problems));
  ResolvedConfig resolved;
  resolved.config = bind(tree);
  resolved.tree = std::move(tree);
  return resolved;
}

}  // namespace plumbline::config
