// scan.h: looks at a library that has no manifest, in a child process that may crash or hang.
#pragma once

#include <chrono>
#include <string>

#include "core/host/report.h"
#include "plumb/sdk/result.h"

namespace plumbline {

/// What the library says of itself. scan_program: the path of plumb-scan.
/// Fails as open_library does in the child, INTERNAL (it crashed or hung; says how), NOT_FOUND (no
/// scan_program).
Result<PluginFacts> scan(const std::string& scan_program, const std::string& library,
                         std::chrono::milliseconds timeout);

}  // namespace plumbline
