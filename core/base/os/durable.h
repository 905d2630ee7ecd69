// durable.h: files that are there whole or not at all, after a crash or a power cut too.
#pragma once

#include <string>
#include <string_view>

#include "plumb/sdk/result.h"

namespace plumbline::os {

/// Gives a finished file its name: its bytes reach the disk first, then it replaces what is at `to`
/// in one step. Both lie on one file system. Fails NOT_FOUND (path and reason); then `to` is as it
/// was.
Result<void> publish_file(const std::string& from, const std::string& to);

/// Writes a small file in the same way, by way of a FreshFile. A link is followed; a device or a
/// pipe is no file to replace, so it is written to.
Result<void> write_file(const std::string& path, std::string_view bytes);

}  // namespace plumbline::os
