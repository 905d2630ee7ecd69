// table.h: what the plugin offers.
#pragma once

#include "plumb/ext/kernels.h"

namespace plumbline::cpu {

extern const plumb_kernels kKernels;

}  // namespace plumbline::cpu
