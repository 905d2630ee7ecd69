// plugins list, inspect, doctor: what was found, what was rejected, and why.
#include <memory>

#include "core/cli/session.h"
#include "core/cli/verbs.h"
#include "plumb/sdk/kernels/variants.h"

namespace plumbline::cli {
namespace {

using pipeline::OrderedJson;

struct PluginOptions {
  std::vector<std::string> paths;
  std::string id;
  bool json = false;
};

OrderedJson to_json(const PluginReport& plugin) {
  OrderedJson json{{"id", plugin.facts.id},
                   {"version", plugin.facts.version},
                   {"extensions", plugin.facts.extensions},
                   {"decision", decision_name(plugin.decision)},
                   {"origin", origin_name(plugin.origin)},
                   {"path", plugin.path},
                   {"abi", {plugin.facts.abi_oldest, plugin.facts.abi_newest}},
                   {"vendor", plugin.facts.vendor},
                   {"license", plugin.facts.license},
                   {"description", plugin.facts.description},
                   {"build", plugin.facts.build},
                   {"has_manifest", plugin.has_manifest}};
  if (!plugin.reason.empty()) json["reason"] = plugin.reason;
  if (!plugin.remedy.empty()) json["remedy"] = plugin.remedy;
  return json;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : " ") + part;
  return text;
}

int list(const PluginOptions& options) {
  Host host = make_host(options.paths);
  OrderedJson rows = OrderedJson::array();
  for (const PluginReport& plugin : host.report().plugins) {
    if (options.json) {
      rows.push_back(to_json(plugin));
    } else {
      const std::string name = plugin.facts.id.empty() ? plugin.path : plugin.facts.id;
      print(padded(name, 28) + " " + padded(plugin.facts.version, 8) + " " +
            padded(std::string(decision_name(plugin.decision)), 9) + " " +
            padded(joined(plugin.facts.extensions), 24) + " " + plugin.facts.description +
            (plugin.reason.empty() ? "" : " (" + plugin.reason + ")") + "\n");
    }
  }
  if (options.json) print_json(rows);
  if (host.report().plugins.empty()) {
    note("no plugins found; plumb plugins doctor says where was looked");
    return kNothingDone;
  }
  return kDone;
}

// {"avx512_vnni": "usable", "avx512": "this machine has no ..."} of a kernels plugin, best first.
OrderedJson variants_json(Host& host, const PluginReport& plugin) {
  OrderedJson variants = OrderedJson::object();
  const auto kernels = host.find<plumb_kernels>({.pin = plugin.facts.id});
  if (!kernels) return variants;
  for (const KernelsVariant& variant : variants_of(*kernels->table))
    variants[variant.name] = variant.missing.empty() ? "usable" : variant.missing;
  return variants;
}

int inspect(const PluginOptions& options) {
  Host host = make_host(options.paths);
  host.load_all();
  for (const PluginReport& plugin : host.report().plugins) {
    if (plugin.facts.id != options.id && plugin.path != options.id) continue;
    OrderedJson json = to_json(plugin);
    if (OrderedJson variants = variants_json(host, plugin); !variants.empty()) {
      json["variants"] = std::move(variants);
    }
    if (options.json) {
      print_json(json);
    } else {
      for (const auto& [key, value] : json.items()) {
        print(padded(key, 14) + (value.is_string() ? value.get<std::string>() : value.dump()) +
              "\n");
      }
    }
    return plugin.decision == Decision::kRejected ? kPlugin : kDone;
  }
  stop(kPlugin,
       {PLUMB_NOT_FOUND, "no plugin " + options.id + "; plumb plugins list shows which there are"});
}

// Tells of everything, and fails if something that was found cannot be used on any machine.
int doctor(const PluginOptions& options) {
  Host host = make_host(options.paths);
  host.load_all();
  const LoadReport& report = host.report();
  bool is_well = true;
  OrderedJson json{{"folders", OrderedJson::array()},
                   {"plugins", OrderedJson::array()},
                   {"choices", OrderedJson::object()}};
  std::string text = "Folders, in the order of the search\n";
  for (const FolderReport& folder : report.folders) {
    text += "  " + padded(std::string(origin_name(folder.origin)), 18) + " " + folder.path +
            (folder.problem.empty() ? "" : ": " + folder.problem) + "\n";
    json["folders"].push_back({{"origin", origin_name(folder.origin)},
                               {"path", folder.path},
                               {"problem", folder.problem}});
  }
  text += "Plugins\n";
  for (const PluginReport& plugin : report.plugins) {
    text += "  " + padded(std::string(decision_name(plugin.decision)), 9) + " " +
            (plugin.facts.id.empty() ? plugin.path : plugin.facts.id) + "\n";
    if (!plugin.reason.empty()) text += "            " + plugin.reason + "\n";
    if (!plugin.remedy.empty()) text += "            -> " + plugin.remedy + "\n";
    // A probe that says no is a fact of the machine, not an ailment.
    if (plugin.decision == Decision::kRejected && plugin.code != PLUMB_UNSUPPORTED) is_well = false;
    json["plugins"].push_back(to_json(plugin));
  }
  text += "Choices, when the config says auto\n";
  for (const char* extension : {PLUMB_EXT_KERNELS, PLUMB_EXT_LOADER, PLUMB_EXT_TOKENIZER,
                                PLUMB_EXT_TEMPLATE, PLUMB_EXT_SAMPLER, PLUMB_EXT_MODEL_SOURCE}) {
    OrderedJson rows = OrderedJson::array();
    text += "  " + std::string(extension) + "\n";
    for (const Candidate& candidate : host.candidates(extension)) {
      text += "    " + padded(candidate.id, 28) + " " + candidate.reason + "\n";
      rows.push_back({{"id", candidate.id},
                      {"usable", candidate.is_usable},
                      {"rank", candidate.rank},
                      {"reason", candidate.reason}});
    }
    json["choices"][extension] = std::move(rows);
  }
  if (options.json) {
    print_json(json);
  } else {
    print(text);
  }
  return is_well ? kDone : kPlugin;
}

}  // namespace

void add_plugins(CLI::App& app, int& exit) {
  auto options = std::make_shared<PluginOptions>();
  CLI::App* verb = app.add_subcommand("plugins", "What was found, what was rejected, and why");
  verb->require_subcommand(1);
  const auto add = [&](const char* name, const char* doc, auto body) {
    CLI::App* sub = verb->add_subcommand(name, doc);
    add_plugin_paths(*sub, options->paths);
    sub->add_flag("--json", options->json, "As JSON");
    sub->callback([options, &exit, body] { exit = body(*options); });
    return sub;
  };
  add("list", "One line for each plugin; loads nothing", list)
      ->footer("Example:\n  plumb plugins list --json");
  CLI::App* one = add("inspect", "All that one plugin says of itself", inspect);
  one->add_option("ID", options->id, "A plugin's id, or a library's path as list shows it")
      ->required();
  one->footer("Example:\n  plumb plugins inspect plumb.cpu.avx2");
  add("doctor", "Loads everything and explains every decision", doctor)
      ->footer("Example:\n  plumb plugins doctor");
  add_plugin_kit(*verb, exit);
}

}  // namespace plumbline::cli
