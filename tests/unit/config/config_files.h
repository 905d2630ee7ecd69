// config_files.h: configs for tests, as files in a folder of their own.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/config/load.h"

namespace plumbline::config {

/// A folder that lives as long as the test, with the presets of the repository in reach.
class ConfigFiles : public ::testing::Test {
 protected:
  ConfigFiles() {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              (std::string("plumb-config-") +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~ConfigFiles() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }

  static LoadRequest request(const std::string& file, std::vector<std::string> overrides = {}) {
    return {file, std::move(overrides), {PLUMB_SOURCE_DIR "/configs/presets"}};
  }

  /// Loads what must be right.
  static ResolvedConfig loaded(const std::string& file, std::vector<std::string> overrides = {}) {
    auto resolved = load_config(request(file, std::move(overrides)));
    if (!resolved) ADD_FAILURE() << resolved.error().message;
    return resolved ? std::move(*resolved) : ResolvedConfig{};
  }

  /// The message for what must be refused as INVALID_CONFIG.
  static std::string refused(const std::string& file, std::vector<std::string> overrides = {}) {
    const auto resolved = load_config(request(file, std::move(overrides)));
    EXPECT_FALSE(resolved.has_value());
    if (resolved) return {};
    EXPECT_EQ(resolved.error().code, PLUMB_INVALID_CONFIG);
    return resolved.error().message;
  }

  std::filesystem::path folder_;
};

/// The least that a config must say.
inline const std::string kMinimal = "plumbline: 1\nmodel: {source: {package: some-model}}\n";

}  // namespace plumbline::config
