// naive_ops.h: the ops. Each checks its arguments, then does this part's share with loops that say
// what they mean.
//
// Inputs and outputs are f32; everything between is f64 (libm's functions too), so the error of a
// result is the last rounding to f32 plus an f64 error that is far below it. Results do not depend
// on the number of parts.
#pragma once

#include "reference_op_args.h"

namespace plumbline::reference {

plumb_status embed(const OpCall& call);
plumb_status rms_norm(const OpCall& call);
plumb_status layer_norm(const OpCall& call);
plumb_status quantize(const OpCall& call);
plumb_status matmul(const OpCall& call);
plumb_status rope(const OpCall& call);
plumb_status kv_append(const OpCall& call);
plumb_status attend(const OpCall& call);
plumb_status activate(const OpCall& call);
plumb_status add(const OpCall& call);
plumb_status scale(const OpCall& call);
plumb_status softcap(const OpCall& call);
plumb_status argmax(const OpCall& call);

/// 32 activations: x[i] = scale * codes[i].
struct Q8Block {
  float scale;
  int8_t codes[PLUMB_QK];
};

}  // namespace plumbline::reference
