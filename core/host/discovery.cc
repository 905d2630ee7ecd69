#include "core/host/discovery.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <system_error>

#include "core/base/os/paths.h"
#include "core/host/manifest.h"

namespace plumbline {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLibrarySuffix = ".so";

/// True also for a symbolic link that leads nowhere: it is there to be reported.
bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

std::string resolved(const std::string& path) {
  std::error_code failed;
  const fs::path canonical = fs::canonical(path, failed);
  return failed ? path : canonical.string();
}

/// stem: a path without the suffix of library or manifest.
FoundFile found_at(const std::string& stem, Origin origin) {
  const std::string library = stem + std::string(kLibrarySuffix);
  const std::string manifest = stem + std::string(kManifestSuffix);
  return {exists(library) ? resolved(library) : "", exists(manifest) ? resolved(manifest) : "",
          origin};
}

std::string_view without(std::string_view text, std::string_view suffix) {
  return text.substr(0, text.size() - suffix.size());
}

/// The paths in a folder that belong to plugins, without their suffixes. *problem: why it could not
/// be read.
std::set<std::string> stems_in(const std::string& folder, std::string* problem) {
  std::set<std::string> stems;
  std::error_code failed;
  fs::directory_iterator entry(folder, failed);
  while (!failed && entry != fs::directory_iterator()) {
    const std::string path = entry->path().string();
    for (const std::string_view suffix : {kLibrarySuffix, kManifestSuffix}) {
      if (path.ends_with(suffix)) stems.emplace(without(path, suffix));
    }
    entry.increment(failed);
  }
  if (failed) *problem = failed.message();
  return stems;
}

}  // namespace

std::vector<SearchFolder> environment_folders() {
  std::vector<SearchFolder> folders;
  const char* variable = std::getenv("PLUMB_PLUGIN_PATH");
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const size_t colon = rest.find(':');
    if (colon != 0) folders.push_back({std::string(rest.substr(0, colon)), Origin::kEnvironment});
    rest.remove_prefix(colon == rest.npos ? rest.size() : colon + 1);
  }
  return folders;
}

std::vector<SearchFolder> user_folders() {
  const std::string data = os::user_data_folder();
  if (data.empty()) return {};
  return {{data + "/plumbline/plugins", Origin::kUser}};
}

std::vector<SearchFolder> install_folders() {
  const auto executable = os::executable_path();
  if (!executable) return {};
  const fs::path root = fs::path(*executable).parent_path().parent_path();
  return {{(root / "lib" / "plumbline").string(), Origin::kInstall}};
}

Result<void> discover_path(const std::string& path, Discovery* discovery) {
  std::error_code failed;
  const std::string absolute = fs::absolute(path, failed).lexically_normal().string();
  const fs::file_status status = fs::status(absolute, failed);
  if (!fs::exists(status)) {
    return Error{PLUMB_NOT_FOUND,
                 "plugin path " + path + ": " + (failed ? failed.message() : "no such file")};
  }
  if (fs::is_directory(status)) {
    discover_folder({absolute, Origin::kConfig}, discovery);
    return {};
  }
  if (!absolute.ends_with(kLibrarySuffix)) {
    return Error{PLUMB_INVALID_CONFIG, "plugin path " + path +
                                           ": expected a folder or a file whose name ends in " +
                                           std::string(kLibrarySuffix)};
  }
  discovery->files.push_back(
      found_at(std::string(without(absolute, kLibrarySuffix)), Origin::kConfig));
  return {};
}

void discover_folder(const SearchFolder& folder, Discovery* discovery) {
  FolderReport report{folder.path, folder.origin, ""};
  if (!fs::path(folder.path).is_absolute()) {
    report.problem = "not an absolute path: the current directory is never searched";
  } else {
    for (const std::string& stem : stems_in(folder.path, &report.problem)) {
      discovery->files.push_back(found_at(stem, folder.origin));
    }
  }
  discovery->folders.push_back(std::move(report));
}

}  // namespace plumbline
