// program.h: where a runner lies and how it is started.
#pragma once

#include <string>
#include <vector>

#include "core/config/pipeline_config.h"
#include "plumb/sdk/result.h"

namespace plumbline::runner {

struct RunnerProgram {
  std::vector<std::string> argv;
  std::string folder;  // of the program; its maps lie in folder/maps
};

/// folder: of installed runners. A file that ends in .py is run by config.python.
/// Fails INVALID_CONFIG (no runner of that name, with those there are), NOT_FOUND (no such file).
Result<RunnerProgram> find_program(const config::RunnerConfig& config, const std::string& folder);

/// The map for a model: the config's, or the runner's own for that architecture; "": there is none.
std::string find_map(const config::RunnerConfig& config, const std::string& program_folder,
                     const std::string& architecture);

}  // namespace plumbline::runner
