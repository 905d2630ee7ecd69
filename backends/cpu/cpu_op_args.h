// cpu_op_args.h: an op with the worker that does a part of it, and its checked arguments.
#pragma once

#include <cstdint>

#include "plumb/sdk/kernels/op_list.h"
#include "plumb/sdk/kernels/slice_args.h"
#include "state.h"

namespace plumbline::cpu {

/// One op, of which part `part` of n_parts is to be done with the scratch of one worker.
struct OpCall {
  const State& state;
  const plumb_op& op;
  const Worker& worker;
  uint32_t part, n_parts;
  plumb_error* error;

  uint64_t n_rows() const { return op.n_rows; }
  /// This part's share of n items.
  Range share(uint64_t n) const {
    return {part_begin(n, part, n_parts), part_begin(n, part + 1, n_parts)};
  }
  /// Runs a kernel. Fails NUMERIC where it met a number that is not finite: `numbers` names them.
  template <typename Args>
  plumb_status run(const Args& args, Range items, const char* numbers = "a value") const {
    Outcome outcome = Outcome::kDone;
    const plumb_status status = run_kernel(state, *worker.engine, args, items, &outcome, error);
    if (status != PLUMB_OK) return status;
    switch (outcome) {
      case Outcome::kDone:
        return PLUMB_OK;
      case Outcome::kNotFinite:
        return failf(error, PLUMB_NUMERIC, "%s is NaN or infinite", numbers);
      case Outcome::kNothingVisible:
        return fail(error, PLUMB_INVALID_ARGUMENT, "a query sees no row of the cache");
    }
    return fail(error, PLUMB_INTERNAL, "a kernel answered with an unknown outcome");
  }
};

/// A matrix as an op may use it.
struct Matrix {
  const Layout* layout = nullptr;
  const uint8_t* data = nullptr;
  uint64_t n_rows = 0, n_columns = 0;
};

/// Weights and caches too.
class OpArgs : public SliceArgs<State> {
 public:
  explicit OpArgs(const OpCall& call) : SliceArgs(call.state, call.op, call.error) {}

  /// A matrix prepared for `use`; its shape is compared where not 0.
  Matrix matrix(plumb_handle handle, uint32_t use, uint64_t n_rows, uint64_t n_columns) {
    const Weight* weight = find("weight", handle, use);
    if (weight == nullptr) return {};
    if ((n_rows != 0 && weight->n_rows != n_rows) ||
        (n_columns != 0 && weight->n_columns != n_columns)) {
      status_ = failf(
          error_, PLUMB_INVALID_ARGUMENT, "weight: it is [%llu,%llu]; the op says [%llu,%llu]",
          static_cast<unsigned long long>(weight->n_rows),
          static_cast<unsigned long long>(weight->n_columns),
          static_cast<unsigned long long>(n_rows), static_cast<unsigned long long>(n_columns));
      return {};
    }
    return {weight->layout, resolve(state_, weight->place, weight->bytes), weight->n_rows,
            weight->n_columns};
  }

  /// A vector f32[n], or null for handle 0.
  const float* vector(const char* name, plumb_handle handle, uint64_t n) {
    if (handle == 0) return nullptr;
    const Weight* weight = find(name, handle, PLUMB_USE_VECTOR);
    if (weight == nullptr) return nullptr;
    if (weight->n_columns != n) {
      status_ = failf(error_, PLUMB_INVALID_ARGUMENT, "%s: it has %llu values; the op says %llu",
                      name, static_cast<unsigned long long>(weight->n_columns),
                      static_cast<unsigned long long>(n));
      return nullptr;
    }
    return reinterpret_cast<const float*>(resolve(state_, weight->place, weight->bytes));
  }

  KvCache* cache(plumb_handle handle) {
    KvCache* found = state_.caches.find(handle);
    require(found != nullptr, "kv: not a live handle of a KV cache");
    return found;
  }

 private:
  /// A live weight for this use whose memory is live too.
  const Weight* find(const char* name, plumb_handle handle, uint32_t use) {
    const Weight* weight = state_.weights.find(handle);
    if (failed()) return nullptr;
    if (weight == nullptr || (weight->uses & use) == 0 ||
        resolve(state_, weight->place, weight->bytes) == nullptr) {
      status_ = failf(error_, PLUMB_INVALID_ARGUMENT,
                      "%s: handle %llx is not a live weight prepared for this use", name,
                      static_cast<unsigned long long>(handle));
      return nullptr;
    }
    return weight;
  }
};

}  // namespace plumbline::cpu
