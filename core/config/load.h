// load.h: a config file with what it extends, overrides and presets -> one resolved config.
#pragma once

#include <string>
#include <vector>

#include "core/config/config_tree.h"
#include "core/config/pipeline_config.h"

namespace plumbline::config {

struct LoadRequest {
  std::string file;
  std::vector<std::string> overrides =
      {};  // of --set: "sampling.seed=3", "sampling.stages.0.top_p.p=0.5"
  std::vector<std::string> preset_folders = {};  // searched in order for <profile>.yaml
  std::vector<std::string> dropped = {};  // keys that count for nothing where files have them
};

/// A config with nothing left open. Writing the tree out (show.h) and loading it again gives the
/// same config.
struct ResolvedConfig {
  PipelineConfig config;
  Value tree;  // every value with its origin, defaults included

  /// Where "kernels.backend" got its value, for messages of those who act on it; "unknown" if it
  /// has none.
  std::string origin(std::string_view path) const;
};

/// Layers, later ones winning: defaults, what the file extends, the file, the overrides; then the
/// profile's stages. Fails INVALID_CONFIG, one line for each mistake ("file:line:column: seen,
/// expected; did you mean"), NOT_FOUND for a file that cannot be read.
Result<ResolvedConfig> load_config(const LoadRequest& request);

/// The config of a resolved tree in which values were exchanged for those of another resolved tree;
/// paths stay as they are. Fails INVALID_CONFIG as load_config does.
Result<ResolvedConfig> resolve_tree(Value tree);

}  // namespace plumbline::config
