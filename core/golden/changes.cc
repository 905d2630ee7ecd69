#include <nlohmann/json.hpp>

#include "core/golden/verify.h"

namespace plumbline::golden {

std::vector<std::string> plugin_changes(const Identity& recorded, const Identity& seen) {
  std::vector<std::string> notes;
  if (recorded.plugins.empty()) return notes;
  const auto shown = [](const PluginIdentity& plugin) {
    return plugin.id + " " + plugin.version + " (" + plugin.sha256.substr(0, 12) + ")";
  };
  const auto of_kind = [&](const Identity& identity, const std::string& kind) {
    std::string all;
    for (const PluginIdentity& plugin : identity.plugins)
      if (plugin.kind == kind) all += (all.empty() ? "" : " + ") + shown(plugin);
    return all;
  };
  for (const char* kind : {"loader", "tokenizer", "kernels"}) {
    const std::string then = of_kind(recorded, kind), now = of_kind(seen, kind);
    if (then != now)
      notes.push_back(std::string(kind) + ": recorded with " + (then.empty() ? "none" : then) +
                      ", now " + (now.empty() ? "none" : now));
  }
  return notes;
}

std::vector<std::string> config_changes(const Identity& recorded, const Identity& seen) {
  using nlohmann::json;
  const json then = json::parse(recorded.config, nullptr, false);
  const json now = json::parse(seen.config, nullptr, false);
  std::vector<std::string> changes;
  if (!then.is_object() || !now.is_object()) return changes;
  const json flat_then = then.flatten(), flat_now = now.flatten();
  const auto shown = [](const json& flat, const std::string& key) {
    const auto found = flat.find(key);
    return found == flat.end() ? "nothing"
                               : found->dump(-1, ' ', false, json::error_handler_t::replace);
  };
  const auto name = [](const std::string& pointer) {
    std::string path = pointer.substr(1);
    for (char& c : path)
      if (c == '/') c = '.';
    return path;
  };
  json all = flat_then;
  all.update(flat_now);
  for (const auto& [key, value] : all.items()) {
    const std::string before = shown(flat_then, key), after = shown(flat_now, key);
    if (before != after) changes.push_back(name(key) + ": recorded " + before + ", now " + after);
  }
  return changes;
}

}  // namespace plumbline::golden
