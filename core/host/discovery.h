// discovery.h: which files could be plugins, in the order that decides between two of the same id.
#pragma once

#include <string>
#include <vector>

#include "core/host/report.h"
#include "plumb/sdk/result.h"

namespace plumbline {

struct SearchFolder {
  std::string path;
  Origin origin;
};

/// A library, a manifest, or (the normal case) both. Absolute paths, symbolic links resolved.
struct FoundFile {
  std::string library;  // "" if only the manifest is there
  std::string manifest;  // "" if there is none
  Origin origin;
};

struct Discovery {
  std::vector<FolderReport> folders;
  std::vector<FoundFile> files;
};

/// What PLUMB_PLUGIN_PATH lists, the user's folder and the install folder; those that are not known
/// are left out.
std::vector<SearchFolder> environment_folders();
std::vector<SearchFolder> user_folders();
std::vector<SearchFolder> install_folders();

/// Adds a path that the config names: a library, or a folder. Fails NOT_FOUND, INVALID_CONFIG
/// (neither of both).
Result<void> discover_path(const std::string& path, Discovery* discovery);

/// Adds a folder's plugins in the order of their names. A folder that cannot be read is noted,
/// never an error.
void discover_folder(const SearchFolder& folder, Discovery* discovery);

}  // namespace plumbline
