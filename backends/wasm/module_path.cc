#include "module_path.h"

#include <dlfcn.h>

#include <filesystem>

namespace plumbline::wasm {

std::string module_path() {
  Dl_info library{};
  if (dladdr(reinterpret_cast<const void*>(&module_path), &library) == 0 ||
      library.dli_fname == nullptr) {
    return {};
  }
  return std::filesystem::path(library.dli_fname).replace_filename("plumb.wasm.kernels.wasm");
}

}  // namespace plumbline::wasm
