// build_plugins.h: plugins of a folder, opened straight through their C interface, and the small
// host that they are given. Needs nothing of core/host, so that it works where only kernels are
// built.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plumb/plugin.h"

namespace plumbline::test {

/// Maps files; keeps no log.
const plumb_host& small_host();

/// All of a folder whose side-car manifest names this extension, by id; whether they can run here
/// is for their probe to say. One that cannot be loaded is thrown as std::runtime_error. They are
/// never unloaded.
std::vector<const plumb_plugin*> open_plugins(const std::string& folder,
                                              std::string_view extension);

}  // namespace plumbline::test
