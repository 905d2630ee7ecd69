// outputs.h: the sums of a panel's 16 output rows, to and from a row of MatmulArgs::out.
#pragma once

#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/math.h"

namespace plumbline::cpu::PLUMB_CPU_VARIANT {

/// Of a panel: the last one may be short.
PLUMB_INLINE uint64_t lanes_of(const MatmulArgs& args, uint64_t panel) {
  const uint64_t rest = args.n_out - panel * kLanes;
  return rest < kLanes ? rest : kLanes;
}

/// finished: the bias is due.
PLUMB_INLINE void write_panel(const MatmulArgs& args, uint64_t row, uint64_t panel, f32x16 sum,
                              bool finished) {
  if (finished && args.bias != nullptr) sum = add(sum, load(args.bias + panel * kLanes));
  float* out = args.out + row * args.n_out + panel * kLanes;
  const uint64_t lanes = lanes_of(args, panel);
  if (lanes == kLanes) {
    store(out, sum);
  } else {
    store_first(out, sum, lanes);
  }
}

PLUMB_INLINE f32x16 read_panel(const MatmulArgs& args, uint64_t row, uint64_t panel) {
  const float* out = args.out + row * args.n_out + panel * kLanes;
  const uint64_t lanes = lanes_of(args, panel);
  return lanes == kLanes ? load(out) : load_first(out, lanes);
}

}  // namespace plumbline::cpu::PLUMB_CPU_VARIANT
