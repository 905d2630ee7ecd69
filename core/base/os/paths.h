// paths.h: where this program is and where its user keeps things.
#pragma once

#include <string>

#include "plumb/sdk/result.h"

namespace plumbline::os {

/// The absolute path of the running executable. Fails INTERNAL if the system does not tell.
Result<std::string> executable_path();

/// $XDG_DATA_HOME, or $HOME/.local/share; "" if neither is an absolute path.
/// Source: XDG Base Directory Specification 0.8 (a relative path is to be ignored).
std::string user_data_folder();

/// $XDG_STATE_HOME, or $HOME/.local/state; "" if neither is an absolute path. Source: the same.
std::string user_state_folder();

/// Where models lie: $PLUMB_MODEL_DIR, else plumbline/models in $XDG_CACHE_HOME or ~/.cache.
/// Fails INVALID_ARGUMENT if none of the three is set.
Result<std::string> model_folder();

}  // namespace plumbline::os
