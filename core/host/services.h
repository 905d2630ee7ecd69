// services.h: what the host does for plugins.
#pragma once

#include "plumb/plugin.h"

namespace plumbline {

/// The one service table of this process: log lines go to the spdlog logger "plumb" (standard
/// error), files are mapped read-only. [any-thread]
const plumb_host* host_services();

}  // namespace plumbline
