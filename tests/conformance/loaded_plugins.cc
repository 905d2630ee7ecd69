#include "loaded_plugins.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <stdexcept>

namespace plumbline::test {

const std::vector<KernelsPlugin>& plugins() {
  static const std::vector<KernelsPlugin> found = [] {
    std::vector<KernelsPlugin> loaded = load_kernels_plugins(PLUMB_BUILD_PLUGIN_DIR);
    for (const KernelsPlugin& plugin : loaded)
      std::cout << "under test: " << plugin.id << ", " << plugin.numerics << "\n";
    return loaded;
  }();
  return found;
}

const KernelsPlugin& oracle() {
  const auto found =
      std::find_if(plugins().begin(), plugins().end(),
                   [](const KernelsPlugin& plugin) { return plugin.id == "plumb.reference"; });
  if (found == plugins().end())
    throw std::runtime_error("plumb.reference is not in " PLUMB_BUILD_PLUGIN_DIR);
  return *found;
}

int depth() {
  constexpr int kCheckTier = 2;
  const char* asked = std::getenv("PLUMB_CONFORMANCE_DEPTH");
  return asked == nullptr ? kCheckTier : std::max(1, std::atoi(asked));
}

}  // namespace plumbline::test
