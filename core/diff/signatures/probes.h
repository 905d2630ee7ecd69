// probes.h: inputs that part causes which look alike on ordinary ones.
#pragma once

#include <vector>

#include "core/diff/signatures/suspect.h"

namespace plumbline::diff {

/// Of the shapes of the suspect's inputs. Values: tiny, huge, one-hot, all ones, no two alike; rows
/// in reverse; positions and ids elsewhere; caches of which one row is marked; queries of 0, which
/// attend to all that they see alike.
std::vector<OpInputs> probes(const Suspect& suspect);

}  // namespace plumbline::diff
