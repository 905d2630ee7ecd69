// manifest.h: the side-car that lists a plugin without loading it, NAME.plugin.json beside NAME.so.
#pragma once

#include <string>
#include <string_view>

#include "core/host/report.h"
#include "plumb/sdk/result.h"

namespace plumbline {

constexpr std::string_view kManifestSuffix = ".plugin.json";
constexpr std::string_view kPluginIdRule = "1 to 100 of a-z 0-9 . _ -, a letter first";

bool is_plugin_id(std::string_view id);

/// Fails INVALID_CONFIG: too large, no JSON (line and column), a key that is missing or of the
/// wrong type. Keys that this host does not know are skipped: manifests grow.
Result<PluginFacts> read_manifest(const std::string& path);
Result<PluginFacts> parse_manifest(std::string_view json);

/// The manifest that a plugin should have. parse_manifest reads it back.
std::string to_manifest(const PluginFacts& facts);

}  // namespace plumbline
