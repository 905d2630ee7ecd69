// layers.h: how one layer of a config lies over another.
#pragma once

#include <string>
#include <vector>

#include "core/config/config_tree.h"

namespace plumbline::config {

/// Merges a layer over a tree; what its keys undo (spec.h, exclusions) is taken from the tree
/// first.
void add_layer(Value& tree, Value layer);

/// Applies "a.b=value" and "a.0.b=value" overrides; a number in a path is an index into a list that
/// is there. Fails INVALID_CONFIG for a malformed override or a path that leads nowhere.
Result<void> apply_overrides(Value& tree, const std::vector<std::string>& overrides);

}  // namespace plumbline::config
