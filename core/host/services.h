// services.h: what the host does for plugins.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plumb/plugin.h"
#include "plumb/sdk/result.h"

namespace plumbline {

/// The services without find_extension, one table for this process: log lines go to the spdlog
/// logger "plumb" (standard error), files are mapped read-only. [any-thread]
const plumb_host* host_services();

/// Who answers plumb_host.find_extension.
class ExtensionFinder {
 public:
  struct Found {
    const void* table;
    const plumb_host* host;
  };
  /// askers: ids of the plugin that asks and of those that wrap it, the outermost first; none of
  /// them may be found. [any-thread]
  virtual Result<Found> find_extension(std::string_view extension, const std::string& plugin,
                                       const std::vector<std::string>& askers) = 0;

 protected:
  ~ExtensionFinder() = default;
};

/// Hands out the services with find_extension, until its end; what was handed out stays valid, and
/// then finds nothing.
class PluginServices {
 public:
  explicit PluginServices(ExtensionFinder& finder);
  ~PluginServices();
  PluginServices(const PluginServices&) = delete;
  PluginServices& operator=(const PluginServices&) = delete;

  /// For the plugin with the last of these ids, wrapped by those before; the same each time.
  /// [any-thread]
  const plumb_host* of(const std::vector<std::string>& askers);

 private:
  struct Door;
  Door* door_;  // never destroyed
};

}  // namespace plumbline
