// private_file.h: small files that only their owner may read (mode 0600).
#pragma once

#include <string>
#include <string_view>

#include "plumb/sdk/result.h"

namespace plumbline::os {

/// Appends in one write; makes the file, and the folders above it (0700), if there are none. A file
/// that others may read is made private first. Fails NOT_FOUND (path and reason), CORRUPT if there
/// is something that is no regular file.
Result<void> append_private_file(const std::string& path, std::string_view bytes);

/// Takes the place of what is there in one step. Fails as append_private_file does.
Result<void> replace_private_file(const std::string& path, std::string_view bytes);

}  // namespace plumbline::os
