// reference_execute.h: from an op record to the function that does it.
#pragma once

#include "reference_state.h"

namespace plumbline::reference {

plumb_status supports(const plumb_op_query* query, plumb_error* error);

/// Sizes every worker's scratch, those of later workers too. May throw std::bad_alloc.
plumb_status plan(State& state, const plumb_op* ops, uint32_t n_ops, plumb_error* error);

plumb_status execute(const State& state, const plumb_op* ops, uint32_t n_ops, plumb_handle worker,
                     uint32_t part, uint32_t n_parts, plumb_error* error);

}  // namespace plumbline::reference
