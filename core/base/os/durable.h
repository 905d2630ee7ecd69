// durable.h: files that are there whole or not at all, after a crash or a power cut too.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "plumb/sdk/result.h"

namespace plumbline::os {

/// Gives a finished file its name: its bytes reach the disk first, then it replaces what is at `to`
/// in one step. Both lie on one file system. Fails NOT_FOUND (path and reason); then `to` is as it
/// was.
Result<void> publish_file(const std::string& from, const std::string& to);

/// Writes a small file in the same way, by way of a FreshFile. A link to something is followed; a
/// device or a pipe is no file to replace, so it is written to. A file that is replaced keeps its
/// permissions; one that may not be written to is not replaced.
Result<void> write_file(const std::string& path, std::string_view bytes);

/// Called with one piece of a file after the other.
using PieceSink = std::function<Result<void>(std::string_view piece)>;

/// The same of a large file of n_bytes, which need not be in memory at once: `write` hands its
/// pieces to the sink. Fails as `write` does; INTERNAL: other than n_bytes came.
Result<void> write_file(const std::string& path, uint64_t n_bytes,
                        const std::function<Result<void>(const PieceSink& sink)>& write);

}  // namespace plumbline::os
