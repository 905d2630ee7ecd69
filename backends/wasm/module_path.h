// module_path.h: where the module lies.
#pragma once

#include <string>

namespace plumbline::wasm {

/// plumb.wasm.kernels.wasm in the folder of this very library. Empty if the system does not know
/// the library's path.
std::string module_path();

}  // namespace plumbline::wasm
