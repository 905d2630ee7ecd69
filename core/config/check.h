// check.h: a tree against the specification.
#pragma once

#include "core/config/config_tree.h"
#include "core/config/spec.h"

namespace plumbline::config {

/// Reports every unknown key, wrong type and value out of range. Missing keys are not its concern:
/// a layer may be partial.
void check_values(const Value& tree, const Spec& spec, Problems& problems);

/// Reports the pairs that one layer may not hold together.
void check_exclusions(const Value& layer, Problems& problems);

/// Fills in defaults and reports required keys that are missing.
void complete(Value& tree, const Spec& spec, Problems& problems);

/// Reports choices of a complete tree that contradict one another.
void check_contradictions(const Value& tree, Problems& problems);

}  // namespace plumbline::config
