// library_file.h: is a file whole enough to be given to the dynamic loader?
#pragma once

#include <string>

#include "plumb/sdk/result.h"

namespace plumbline::os {

/// Checks that a file is an ELF library of this machine's class and that all bytes that the loader
/// would map are there: a shorter file, say a copy that was interrupted, would kill the process
/// with SIGBUS. Fails NOT_FOUND, CORRUPT (seen, expected). Source: elf(5).
Result<void> check_library_file(const std::string& path);

}  // namespace plumbline::os
