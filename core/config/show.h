// show.h: a resolved config as text.
#pragma once

#include <string>

#include "core/config/load.h"

namespace plumbline::config {

/// YAML with the origin of every value in a comment. Loading it gives the same config.
std::string show_yaml(const ResolvedConfig& resolved);

/// {"config": {...}, "origins": {"kernels.backend": "default", ...}}
std::string show_json(const ResolvedConfig& resolved);

/// The JSON Schema of the config language (draft 2020-12), for editors.
std::string json_schema();

}  // namespace plumbline::config
