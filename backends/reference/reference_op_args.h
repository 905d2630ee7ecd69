// reference_op_args.h: an op with the worker that does a part of it, and its checked arguments.
#pragma once

#include <cstdint>

#include "plumb/sdk/kernels/op_list.h"
#include "plumb/sdk/kernels/slice_args.h"
#include "reference_state.h"

namespace plumbline::reference {

/// This part's share of n items.
struct Range {
  uint64_t begin, end;
};

/// One op, of which part `part` of n_parts is to be done by `worker`.
struct OpCall {
  const State& state;
  const plumb_op& op;
  Worker& worker;
  uint32_t part;
  uint32_t n_parts;
  plumb_error* error;

  Range share(uint64_t n) const {
    return {part_begin(n, part, n_parts), part_begin(n, part + 1, n_parts)};
  }
};

/// Weights and caches too.
class OpArgs : public SliceArgs<State> {
 public:
  explicit OpArgs(const OpCall& call) : SliceArgs(call.state, call.op, call.error) {}

  /// A matrix prepared for `use`; its shape is compared where not 0.
  const Weight* matrix(const char* name, plumb_handle handle, uint32_t use, uint64_t n_rows,
                       uint64_t n_columns) {
    const Weight* weight = state_.weights.find(handle);
    if (failed()) return weight;
    if (weight == nullptr || (weight->uses & use) == 0) {
      status_ = failf(error_, PLUMB_INVALID_ARGUMENT,
                      "%s: handle %llx is not a weight prepared for this use", name,
                      static_cast<unsigned long long>(handle));
    } else if ((n_rows != 0 && weight->n_rows != n_rows) ||
               (n_columns != 0 && weight->n_columns != n_columns)) {
      status_ = failf(
          error_, PLUMB_INVALID_ARGUMENT, "%s: weight is [%llu,%llu]; the op says [%llu,%llu]",
          name, static_cast<unsigned long long>(weight->n_rows),
          static_cast<unsigned long long>(weight->n_columns),
          static_cast<unsigned long long>(n_rows), static_cast<unsigned long long>(n_columns));
    }
    return weight;
  }

  /// A vector f32[n], or null for handle 0.
  const float* vector(const char* name, plumb_handle handle, uint64_t n) {
    if (handle == 0) return nullptr;
    const Weight* weight = matrix(name, handle, PLUMB_USE_VECTOR, 1, n);
    return weight == nullptr ? nullptr : reinterpret_cast<const float*>(weight->data);
  }

  KvCache* cache(plumb_handle handle) {
    KvCache* found = state_.caches.find(handle);
    require(found != nullptr, "kv: not a live handle of a KV cache");
    return found;
  }
};

}  // namespace plumbline::reference
