// host.h: finds, loads and chooses plugins.
//
//   PLUMB_ASSIGN(Host host, Host::create({.paths = config.plugin_paths}));
//   PLUMB_ASSIGN(const auto kernels, host.find<plumb_kernels>({.pin = "plumb.cpu.avx2"}));
//   kernels.table->create(kernels.host, ...);
//
// A library is loaded when something asks for an extension that its manifest names, and never
// unloaded. All that was considered, and why, is in report(). core/doc/abi.md has the reasons.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/host/extensions.h"
#include "core/host/report.h"
#include "plumb/plugin.h"
#include "plumb/sdk/result.h"

namespace plumbline {

struct HostOptions {
  /// Libraries or folders that the config names. Searched first, in this order, then
  /// PLUMB_PLUGIN_PATH (absolute folders, colon between), then plumbline/plugins in the user's data
  /// folder, then static_plugins, then the install folder, ../lib/plumbline from the executable.
  /// Never the current directory.
  std::vector<std::string> paths = {};
  bool search_environment = true;
  bool search_user = true;
  bool search_install = true;
  /// Entries of plugins that are linked into this program; treated like loaded ones.
  std::vector<plumb_plugin_entry_fn> static_plugins = {};
  /// A library without a manifest is looked at in a child process, which gets this long.
  std::chrono::milliseconds scan_timeout{5000};
  /// The program that does it; "": ../libexec/plumbline/plumb-scan from the executable.
  std::string scan_program = {};
  /// Kernels come as a twin that checks how this program's threads use them
  /// (core/host/thread_checks.h).
#ifdef NDEBUG
  bool check_threads = false;
#else
  bool check_threads = true;
#endif
};

/// How one of several plugins is chosen: a pin beats the policy, the policy beats the rank.
struct Choice {
  std::string pin = "auto";  // a plugin id, or "auto"
  std::vector<std::string> prefer =
      {};  // policy: ids in the order in which they come before all others
};

/// A plugin's table for one extension. Everything in it lives as long as the process.
template <typename Table>
struct Loaded {
  std::string id;
  const Table* table = nullptr;
  const plumb_plugin* plugin = nullptr;
  const plumb_host* host = nullptr;  // for the table's create functions
};

/// One plugin that offers an extension, and how it fared.
struct Candidate {
  std::string id;
  std::string path;
  bool is_usable = false;
  int32_t rank = 0;  // if usable
  std::string reason;  // why it is the choice, or why it lost
};

/// One thread at a time.
class Host {
 public:
  /// Searches the folders and reads the manifests; loads nothing but static plugins.
  /// Fails NOT_FOUND if a path that the config names does not exist.
  static Result<Host> create(const HostOptions& options = {});
  Host(Host&&) noexcept;
  Host& operator=(Host&&) noexcept;
  ~Host();

  /// The chosen plugin's table.
  /// Fails NOT_FOUND (no such plugin; says which there are), or as the pinned plugin's own loading
  /// does: CORRUPT, INCOMPATIBLE, UNSUPPORTED (its probe), INTERNAL. [one-at-a-time]
  template <typename Table>
  Result<Loaded<Table>> find(const Choice& choice = {}) {
    PLUMB_ASSIGN(const Usable usable, find_usable(extension_of<Table>(), choice));
    return loaded<Table>(usable);
  }

  /// Every usable plugin with this extension, best first: for those that are asked to recognise a
  /// file, or that add up (sampler stages). A pin leaves only that one. [one-at-a-time]
  template <typename Table>
  std::vector<Loaded<Table>> find_all(const Choice& choice = {}) {
    std::vector<Loaded<Table>> all;
    for (const Usable& usable : find_all_usable(extension_of<Table>(), choice)) {
      all.push_back(loaded<Table>(usable));
    }
    return all;
  }

  /// All plugins that claim the extension, best first and the unusable last. Loads them.
  /// [one-at-a-time]
  std::vector<Candidate> candidates(std::string_view extension, const Choice& choice = {});

  /// Loads and probes everything, so that report() tells all. [one-at-a-time]
  void load_all();

  /// Not while a plugin is being created, which may look for another.
  const LoadReport& report() const;

 private:
  struct Inventory;
  struct Usable {
    const plumb_plugin* plugin;
    const void* table;
    const plumb_host* host;
    std::string id;
    int32_t rank;
  };

  explicit Host(std::unique_ptr<Inventory> inventory);
  Result<Usable> find_usable(const Extension& extension, const Choice& choice);
  std::vector<Usable> find_all_usable(const Extension& extension, const Choice& choice);

  template <typename Table>
  static Loaded<Table> loaded(const Usable& usable) {
    return {usable.id, static_cast<const Table*>(usable.table), usable.plugin, usable.host};
  }

  std::unique_ptr<Inventory> inventory_;
};

}  // namespace plumbline
