#include "core/base/os/paths.h"

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace plumbline::os {
namespace {

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string absolute_from_environment(const char* name) {
  std::string value = from_environment(name);
  return value.starts_with('/') ? value : "";
}

/// The variable's folder, or the one below the user's home.
std::string user_folder(const char* name, const char* in_home) {
  if (std::string folder = absolute_from_environment(name); !folder.empty()) return folder;
  const std::string home = absolute_from_environment("HOME");
  return home.empty() ? "" : home + in_home;
}

}  // namespace

Result<std::string> executable_path() {
  std::error_code failed;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return Error{PLUMB_INTERNAL, "/proc/self/exe: " + failed.message()};
  return path.string();
}

std::string user_data_folder() {
  return user_folder("XDG_DATA_HOME", "/.local/share");
}

std::string user_state_folder() {
  return user_folder("XDG_STATE_HOME", "/.local/state");
}

Result<std::string> model_folder() {
  if (std::string folder = from_environment("PLUMB_MODEL_DIR"); !folder.empty()) return folder;
  if (const std::string cache = from_environment("XDG_CACHE_HOME"); !cache.empty())
    return cache + "/plumbline/models";
  if (const std::string home = from_environment("HOME"); !home.empty())
    return home + "/.cache/plumbline/models";
  return Error{PLUMB_INVALID_ARGUMENT, "no folder for models: set PLUMB_MODEL_DIR"};
}

}  // namespace plumbline::os
