// plumb-scan LIBRARY: loads one plugin and prints the manifest that it should have. A process of
// its own, because an unknown library may crash or hang in its constructors. Exit status: 0, or the
// status code of the failure.
#include <cstdio>
#include <cstdlib>

#include "core/host/library.h"
#include "core/host/manifest.h"

int main(int argc, char** argv) {
  using namespace plumbline;
  if (argc != 2) {
    std::fprintf(stderr, "plumb-scan takes one argument, the path of a plugin library\n");
    return PLUMB_INVALID_ARGUMENT;
  }
  const auto plugin = open_library(argv[1]);
  if (plugin) {
    // Their results do not matter here; that they return does.
    (void)probe(*plugin);
    (void)rank_of(*plugin);
    std::printf("%s\n", to_manifest(plugin->facts).c_str());
  } else {
    std::fprintf(stderr, "%s\n", plugin.error().message.c_str());
  }
  std::fflush(nullptr);
  std::_Exit(plugin ? 0
                    : plugin.error().code);  // no destructor of the library gets a chance to crash
}
