// runner_side.h: a foreign engine as a side.
#pragma once

#include <memory>

#include "core/diff/side.h"

namespace plumbline::diff {

/// For a config whose runner.name is not none. Starts the process and loads the model there. Fails
/// as runner::Runner does.
Result<std::unique_ptr<Side>> make_runner_side(const SideOptions& options,
                                               const config::ResolvedConfig& config,
                                               pipeline::Pipeline& pipeline);

}  // namespace plumbline::diff
