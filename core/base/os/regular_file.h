// regular_file.h: a whole file in memory, of bounded size.
#pragma once

#include <cstdint>
#include <string>

#include "plumb/sdk/result.h"

namespace plumbline::os {

/// The bytes of a regular file. Fails NOT_FOUND (path and the system's reason), CORRUPT (a folder,
/// a device or a pipe, which may have no end and is not waited for; more than bytes_max).
Result<std::string> read_regular_file(const std::string& path, uint64_t bytes_max);

}  // namespace plumbline::os
