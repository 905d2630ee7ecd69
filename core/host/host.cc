#include "core/host/host.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>

#include "core/base/os/paths.h"
#include "core/host/discovery.h"
#include "core/host/library.h"
#include "core/host/manifest.h"
#include "core/host/scan.h"
#include "core/host/services.h"
#include "core/host/thread_checks.h"
#include "plumb/sdk/abi.h"

namespace plumbline {
namespace {

std::string place_of(const PluginReport& report) {
  return report.path.empty() ? std::string(origin_name(report.origin)) : report.path;
}

void reject(PluginReport* report, const Error& error) {
  report->decision = Decision::kRejected;
  report->code = error.code;
  report->reason = error.message;
  report->remedy = remedy_for(error.code);
}

/// One line: place, id, what was seen and expected, what to do.
Error error_of(const PluginReport& report) {
  const std::string id = report.facts.id.empty() ? "" : report.facts.id + ": ";
  return {report.code, place_of(report) + ": " + id + report.reason + "; " + report.remedy};
}

bool offers(const PluginReport& report, std::string_view extension) {
  const auto& all = report.facts.extensions;
  return std::find(all.begin(), all.end(), extension) != all.end();
}

std::string join(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text.empty() ? "none" : text;
}

std::string default_scan_program() {
  const auto executable = os::executable_path();
  if (!executable) return "plumb-scan";
  const auto root = std::filesystem::path(*executable).parent_path().parent_path();
  return (root / "libexec" / "plumbline" / "plumb-scan").string();
}

}  // namespace

/// What is known of each plugin, and those that are loaded.
struct Host::Inventory : ExtensionFinder {
  /// A plugin that was asked for an extension, before or after loading.
  struct Contender {
    size_t index;
    std::optional<Usable> usable;
    Error error = {};  // why not usable
    size_t preference = 0;  // place in the policy's list, its size if absent
  };

  /// Plugins ask for others from any thread.
  std::mutex mutex;
  bool check_threads = false;
  LoadReport report;
  std::vector<std::optional<Plugin>> plugins;  // parallel to report.plugins
  PluginServices services{*this};  // last, so that nothing asks what is gone already

  void add(PluginReport entry, std::optional<Plugin> plugin) {
    if (entry.decision != Decision::kRejected) {
      for (const PluginReport& earlier : report.plugins) {
        const bool is_taken =
            earlier.decision == Decision::kListed || earlier.decision == Decision::kLoaded;
        if (!is_taken || earlier.facts.id != entry.facts.id) continue;
        entry.decision = Decision::kShadowed;
        entry.reason = "the same id as " + place_of(earlier) + ", which comes first";
        entry.remedy = "remove one of the two, or give it an id of its own";
      }
    }
    const bool is_asked_for =
        entry.origin == Origin::kConfig || entry.origin == Origin::kEnvironment;
    if (entry.decision == Decision::kRejected && is_asked_for) {
      const std::string message = error_of(entry).message;
      const plumb_host* host = host_services();
      host->log(host->context, PLUMB_LOG_WARNING, to_abi(message));
    }
    report.plugins.push_back(std::move(entry));
    plugins.push_back(std::move(plugin));
  }

  void add_file(const FoundFile& file, const HostOptions& options) {
    PluginReport entry;
    entry.origin = file.origin;
    entry.has_manifest = !file.manifest.empty();
    entry.path = file.library.empty() ? file.manifest : file.library;
    auto facts = entry.has_manifest ? read_manifest(file.manifest)
                                    : scan(options.scan_program.empty() ? default_scan_program()
                                                                        : options.scan_program,
                                           file.library, options.scan_timeout);
    if (!facts) {
      reject(&entry, facts.error());
    } else if (entry.facts = *std::move(facts); file.library.empty()) {
      reject(&entry, {PLUMB_NOT_FOUND, "the manifest's library is missing"});
    } else if (entry.facts.abi_oldest > PLUMB_ABI_VERSION ||
               entry.facts.abi_newest < PLUMB_ABI_OLDEST) {
      reject(&entry,
             {PLUMB_INCOMPATIBLE,
              "the plugin speaks ABI " + std::to_string(entry.facts.abi_oldest) + " to " +
                  std::to_string(entry.facts.abi_newest) + ", this host " +
                  std::to_string(PLUMB_ABI_OLDEST) + " to " + std::to_string(PLUMB_ABI_VERSION)});
    }
    add(std::move(entry), std::nullopt);
  }

  void add_static(plumb_plugin_entry_fn entry_fn) {
    PluginReport entry;
    entry.origin = Origin::kStatic;
    auto plugin = open_entry(entry_fn);
    if (!plugin) {
      reject(&entry, plugin.error());
      return add(std::move(entry), std::nullopt);
    }
    entry.facts = plugin->facts;
    add(std::move(entry), *std::move(plugin));
  }

  /// Loads and probes what is only listed.
  void load(size_t index) {
    PluginReport& entry = report.plugins[index];
    std::optional<Plugin>& plugin = plugins[index];
    if (entry.decision != Decision::kListed) return;
    if (!plugin) {
      auto opened = open_library(entry.path);
      if (!opened) return reject(&entry, opened.error());
      plugin = *std::move(opened);
    }
    const PluginFacts& said = plugin->facts;
    if (said.id != entry.facts.id) {
      return reject(&entry, {PLUMB_INVALID_CONFIG, "the library says that it is " + said.id +
                                                       ", its manifest says " + entry.facts.id});
    }
    entry.facts.build = said.build;
    if (const auto able = probe(*plugin); !able) return reject(&entry, able.error());
    entry.decision = Decision::kLoaded;
  }

  /// askers: see ExtensionFinder.
  using Askers = std::vector<std::string>;

  Contender contender(size_t index, const Extension& extension, const Choice& choice,
                      Askers askers) {
    load(index);
    const PluginReport& entry = report.plugins[index];
    const auto preferred = std::find(choice.prefer.begin(), choice.prefer.end(), entry.facts.id);
    Contender result{
        index, std::nullopt, {}, static_cast<size_t>(preferred - choice.prefer.begin())};
    if (entry.decision != Decision::kLoaded) {
      result.error = error_of(entry);
      return result;
    }
    const Plugin& plugin = *plugins[index];
    auto table = table_of(plugin, extension);
    if (table) {
      askers.push_back(entry.facts.id);
      result.usable =
          Usable{plugin.table, *table, services.of(askers), entry.facts.id, rank_of(plugin)};
      if (check_threads && extension.id == PLUMB_EXT_KERNELS) {
        const auto checked =
            checked_kernels(*static_cast<const plumb_kernels*>(*table), result.usable->host);
        result.usable->table = checked.table;
        result.usable->host = checked.host;
      }
    } else {
      result.error = std::move(table).error().at(place_of(entry) + ": " + entry.facts.id);
      result.error.message += "; " + std::string(remedy_for(result.error.code));
    }
    return result;
  }

  /// All that claim the extension, best first by policy, rank and id; the unusable last.
  std::vector<Contender> contenders(const Extension& extension, const Choice& choice,
                                    const Askers& askers = {}) {
    std::vector<Contender> all;
    for (size_t i = 0; i < report.plugins.size(); ++i) {
      const PluginReport& entry = report.plugins[i];
      const bool is_shadowed = entry.decision == Decision::kShadowed;
      if (is_shadowed || !offers(entry, extension.id) || is_among(askers, entry.facts.id)) continue;
      all.push_back(contender(i, extension, choice, askers));
      Contender& last = all.back();
      const bool is_named = choice.pin != "auto" || last.preference < choice.prefer.size();
      if (!is_named && last.usable && last.usable->rank == PLUMB_RANK_NAMED_ONLY) {
        last.usable.reset();
        last.error = {PLUMB_NOT_FOUND, entry.facts.id + " is used only where it is named"};
      }
    }
    const auto key = [&](const Contender& c) {
      return std::make_tuple(!c.usable, c.preference, c.usable ? -int64_t{c.usable->rank} : 0,
                             std::string_view(report.plugins[c.index].facts.id));
    };
    std::stable_sort(all.begin(), all.end(),
                     [&](const Contender& a, const Contender& b) { return key(a) < key(b); });
    return all;
  }

  std::optional<size_t> index_of(const std::string& id) const {
    std::optional<size_t> rejected;
    for (size_t i = 0; i < report.plugins.size(); ++i) {
      if (report.plugins[i].facts.id != id) continue;
      const Decision decision = report.plugins[i].decision;
      if (decision == Decision::kListed || decision == Decision::kLoaded) return i;
      if (decision == Decision::kRejected && !rejected) rejected = i;
    }
    return rejected;
  }

  // The id that a pin means: the id itself, or its last part ("avx2" for plumb.cpu.avx2) where only
  // one plugin with the extension ends so.
  Result<std::string> id_of_pin(const Extension& extension, const std::string& pin) const {
    if (pin.find('.') != std::string::npos) return pin;
    std::vector<std::string> ids;
    for (const PluginReport& entry : report.plugins) {
      const std::string& id = entry.facts.id;
      if (entry.decision == Decision::kShadowed || !offers(entry, extension.id)) continue;
      if (id == pin) return pin;
      if (id.ends_with("." + pin)) ids.push_back(id);
    }
    if (ids.size() > 1)
      return Error{PLUMB_INVALID_CONFIG,
                   pin + " may be any of " + join(ids) + ": give the whole id"};
    return ids.empty() ? pin : ids.front();
  }

  static bool is_among(const Askers& askers, const std::string& id) {
    return std::find(askers.begin(), askers.end(), id) != askers.end();
  }

  Result<Usable> pinned(const Extension& extension, const std::string& pin,
                        const Askers& askers = {}) {
    PLUMB_ASSIGN(const std::string id, id_of_pin(extension, pin));
    if (is_among(askers, id)) {
      return Error{PLUMB_INVALID_CONFIG, askers.back() + " would wrap " + id +
                                             (id == askers.back() ? "" : ", which wraps it") +
                                             "; expected another plugin"};
    }
    const std::optional<size_t> index = index_of(id);
    if (!index) {
      return Error{PLUMB_NOT_FOUND,
                   "no plugin has the id " + id + "; for " + std::string(extension.id) +
                       " there are: " + join(ids_offering(extension.id)) + rejected_note()};
    }
    Contender found = contender(*index, extension, {}, askers);
    if (!found.usable) return std::move(found.error);
    return *std::move(found.usable);
  }

  Result<Usable> find(const Extension& extension, const Choice& choice, const Askers& askers = {}) {
    if (choice.pin != "auto") return pinned(extension, choice.pin, askers);
    auto all = contenders(extension, choice, askers);
    if (!all.empty() && all.front().usable) return *std::move(all.front().usable);
    if (all.empty()) {
      std::vector<std::string> folders;
      for (const FolderReport& folder : report.folders) folders.push_back(folder.path);
      return Error{PLUMB_NOT_FOUND, "no plugin offers " + std::string(extension.id) +
                                        "; searched: " + join(folders) + rejected_note()};
    }
    std::string reasons;
    for (const Contender& one : all) reasons += " | " + one.error.message;
    return Error{all.front().error.code,
                 "no plugin for " + std::string(extension.id) + " can be used" + reasons};
  }

  Result<Found> find_extension(std::string_view id, const std::string& plugin,
                               const Askers& askers) override {
    const std::lock_guard lock(mutex);
    const Extension* extension = plumbline::find_extension(id);
    if (extension == nullptr)
      return Error{PLUMB_NOT_FOUND, "this host knows no extension " + std::string(id)};
    PLUMB_ASSIGN(const Usable found, find(*extension, {.pin = plugin}, askers));
    return Found{found.table, found.host};
  }

  std::vector<std::string> ids_offering(std::string_view extension) const {
    std::vector<std::string> ids;
    for (const PluginReport& entry : report.plugins) {
      const bool is_known =
          entry.decision == Decision::kListed || entry.decision == Decision::kLoaded;
      if (is_known && offers(entry, extension)) ids.push_back(entry.facts.id);
    }
    return ids;
  }

  std::string rejected_note() const {
    const auto n = std::count_if(
        report.plugins.begin(), report.plugins.end(),
        [](const PluginReport& entry) { return entry.decision == Decision::kRejected; });
    if (n == 0) return "";
    return "; " + std::to_string(n) + " rejected (`plumb plugins doctor` says why)";
  }
};

Host::Host(std::unique_ptr<Inventory> inventory) : inventory_(std::move(inventory)) {}
Host::Host(Host&&) noexcept = default;
Host& Host::operator=(Host&&) noexcept = default;
Host::~Host() = default;

Result<Host> Host::create(const HostOptions& options) {
  Discovery discovery;
  for (const std::string& path : options.paths) PLUMB_TRY(discover_path(path, &discovery));
  const auto search = [&](const std::vector<SearchFolder>& folders) {
    for (const SearchFolder& folder : folders) discover_folder(folder, &discovery);
  };
  if (options.search_environment) search(environment_folders());
  if (options.search_user) search(user_folders());
  if (options.search_install) search(install_folders());

  auto inventory = std::make_unique<Inventory>();
  inventory->check_threads = options.check_threads;
  const auto is_before_static = [](const FoundFile& file) { return file.origin < Origin::kStatic; };
  const auto installed =
      std::stable_partition(discovery.files.begin(), discovery.files.end(), is_before_static);
  std::for_each(discovery.files.begin(), installed,
                [&](const FoundFile& file) { inventory->add_file(file, options); });
  for (plumb_plugin_entry_fn entry : options.static_plugins) inventory->add_static(entry);
  std::for_each(installed, discovery.files.end(),
                [&](const FoundFile& file) { inventory->add_file(file, options); });
  inventory->report.folders = std::move(discovery.folders);
  return Host(std::move(inventory));
}

Result<Host::Usable> Host::find_usable(const Extension& extension, const Choice& choice) {
  const std::lock_guard lock(inventory_->mutex);
  return inventory_->find(extension, choice);
}

std::vector<Host::Usable> Host::find_all_usable(const Extension& extension, const Choice& choice) {
  const std::lock_guard lock(inventory_->mutex);
  std::vector<Usable> all;
  if (choice.pin != "auto") {
    if (auto pinned = inventory_->pinned(extension, choice.pin)) all.push_back(*std::move(pinned));
    return all;
  }
  for (auto& contender : inventory_->contenders(extension, choice)) {
    if (contender.usable) all.push_back(*std::move(contender.usable));
  }
  return all;
}

std::vector<Candidate> Host::candidates(std::string_view extension_id, const Choice& choice) {
  const Extension* extension = find_extension(extension_id);
  if (extension == nullptr) return {};
  const std::lock_guard lock(inventory_->mutex);
  auto contenders = inventory_->contenders(*extension, choice);
  const auto id_of = [&](const auto& contender) {
    return inventory_->report.plugins[contender.index].facts.id;
  };
  const bool has_pin = choice.pin != "auto";
  const auto resolved = inventory_->id_of_pin(*extension, choice.pin);
  const std::string pin = resolved ? *resolved : choice.pin;
  if (has_pin) {
    std::stable_partition(contenders.begin(), contenders.end(),
                          [&](const auto& contender) { return id_of(contender) == pin; });
  }

  std::vector<Candidate> all;
  for (const auto& contender : contenders) {
    const auto& winner = contenders.front();
    Candidate candidate{id_of(contender), place_of(inventory_->report.plugins[contender.index]),
                        contender.usable.has_value(), contender.usable ? contender.usable->rank : 0,
                        ""};
    const std::string rank = "rank " + std::to_string(candidate.rank);
    if (!candidate.is_usable) {
      candidate.reason = contender.error.message;
    } else if (has_pin) {
      candidate.reason = candidate.id == pin ? "chosen: pinned" : pin + " is pinned";
    } else if (&contender == &winner) {
      const bool is_preferred = contender.preference < choice.prefer.size();
      candidate.reason =
          is_preferred ? "chosen: preferred by the policy" : "chosen: " + rank + " is the highest";
    } else if (contender.preference != winner.preference) {
      candidate.reason = "the policy prefers " + id_of(winner);
    } else if (candidate.rank != winner.usable->rank) {
      candidate.reason =
          rank + ", " + id_of(winner) + " has " + std::to_string(winner.usable->rank);
    } else {
      candidate.reason = rank + " as " + id_of(winner) + ", whose id comes first";
    }
    all.push_back(std::move(candidate));
  }
  return all;
}

void Host::load_all() {
  const std::lock_guard lock(inventory_->mutex);
  for (size_t i = 0; i < inventory_->report.plugins.size(); ++i) inventory_->load(i);
}

const LoadReport& Host::report() const {
  return inventory_->report;
}

}  // namespace plumbline
