// report.h: what the search for plugins found and decided, as data for `plumb plugins` and for
// messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plumb/base.h"

namespace plumbline {

/// Where a plugin came from; the order of discovery.
enum class Origin { kConfig, kEnvironment, kUser, kStatic, kInstall };

constexpr std::string_view origin_name(Origin origin) {
  switch (origin) {
    case Origin::kConfig:
      return "config";
    case Origin::kEnvironment:
      return "PLUMB_PLUGIN_PATH";
    case Origin::kUser:
      return "user folder";
    case Origin::kStatic:
      return "built in";
    case Origin::kInstall:
      return "install folder";
  }
  return "";
}

/// What a plugin says of itself, in its manifest or when it answers.
struct PluginFacts {
  std::string id;
  std::string version;
  std::string vendor;
  std::string license;
  std::string description;
  std::string build;  // known only to the library itself
  uint32_t abi_oldest = 0;
  uint32_t abi_newest = 0;
  std::vector<std::string> extensions;
};

enum class Decision {
  kListed,  // known, not loaded: nothing asked for it yet
  kLoaded,  // loaded, and its probe says that it runs here
  kRejected,  // cannot be used
  kShadowed,  // an earlier one has the same id
};

constexpr std::string_view decision_name(Decision decision) {
  switch (decision) {
    case Decision::kListed:
      return "listed";
    case Decision::kLoaded:
      return "loaded";
    case Decision::kRejected:
      return "rejected";
    case Decision::kShadowed:
      return "shadowed";
  }
  return "";
}

struct PluginReport {
  std::string path;  // of the library; of the manifest if it has none; "" for a built-in plugin
  Origin origin = Origin::kConfig;
  bool has_manifest = false;
  PluginFacts facts;  // as far as known
  Decision decision = Decision::kListed;
  plumb_status code = PLUMB_OK;  // why rejected
  std::string reason;  // seen and expected; "" where nothing went wrong
  std::string remedy;
};

struct FolderReport {
  std::string path;
  Origin origin = Origin::kConfig;
  std::string problem;  // "" if it was searched
};

struct LoadReport {
  std::vector<FolderReport> folders;
  std::vector<PluginReport> plugins;  // in the order of discovery
};

}  // namespace plumbline
