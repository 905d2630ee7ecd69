// plugin_folder.h: a folder of its own for one test, filled with libraries and manifests.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "core/host/host.h"

namespace plumbline {

class PluginFolder {
 public:
  PluginFolder() {
    std::string name = testing::TempDir() + "plumb-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~PluginFolder() { std::filesystem::remove_all(path_); }
  PluginFolder(const PluginFolder&) = delete;
  PluginFolder& operator=(const PluginFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

  void write(std::string_view name, std::string_view bytes) const {
    std::ofstream(*this / name, std::ios::binary) << bytes;
  }
  /// Adds tests/hostile/hostile.KIND.so.
  void add(const std::string& kind) const {
    std::filesystem::copy_file(std::string(PLUMB_HOSTILE_DIR "/hostile.") + kind + ".so",
                               *this / ("hostile." + kind + ".so"));
  }
  /// Adds a manifest that promises a sampler.
  void add_manifest(const std::string& stem, const std::string& id) const {
    write(stem + ".plugin.json",
          R"({"id": ")" + id +
              R"(", "version": "1.0.0", "abi": [1, 1], "extensions": ["plumb.sampler/1"]})");
  }
  void add_with_manifest(const std::string& kind) const {
    add(kind);
    add_manifest("hostile." + kind, "hostile." + kind);
  }

  /// Options that search here and nowhere else.
  HostOptions options() const {
    HostOptions options;
    options.paths = {path_};
    options.search_environment = options.search_user = options.search_install = false;
    return options;
  }

 private:
  std::string path_;
};

}  // namespace plumbline
