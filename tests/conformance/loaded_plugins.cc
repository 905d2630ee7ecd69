#include "loaded_plugins.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <stdexcept>

namespace plumbline::test {

const FoundKernels& kernels() {
  static const FoundKernels found = [] {
    FoundKernels all = find_kernels(PLUMB_BUILD_PLUGIN_DIR);
    for (const KernelsPlugin& one : all.runnable)
      std::cout << "under test: " << one << ", " << one.numerics << "\n";
    for (const std::string& one : all.untested) std::cout << "untested: " << one << "\n";
    return all;
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

uint32_t depth() {
  constexpr uint32_t kCheckTier = 2;
  const char* asked = std::getenv("PLUMB_CONFORMANCE_DEPTH");
  return asked == nullptr ? kCheckTier : static_cast<uint32_t>(std::max(1, std::atoi(asked)));
}

}  // namespace plumbline::test
