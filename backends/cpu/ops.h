// ops.h: one function for each kind of op. Fails INVALID_ARGUMENT (what the checks refuse),
// NUMERIC, UNSUPPORTED.
#pragma once

#include "plumb/base.h"

namespace plumbline::cpu {

struct OpCall;

plumb_status run_embed(const OpCall& call);
plumb_status run_norm(const OpCall& call);
plumb_status run_quantize(const OpCall& call);
plumb_status run_matmul(const OpCall& call);
plumb_status run_rope(const OpCall& call);
plumb_status run_kv_append(const OpCall& call);
plumb_status run_attend(const OpCall& call);
plumb_status run_elementwise(const OpCall& call);
plumb_status run_argmax(const OpCall& call);

}  // namespace plumbline::cpu
