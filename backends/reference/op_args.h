// op_args.h: turns an op record into checked pointers, and names the first thing that is wrong with
// it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include "plumb/sdk/abi.h"
#include "plumb/sdk/blocks.h"
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

  Range share(uint64_t n) const { return {bound(n, part), bound(n, part + 1)}; }

 private:
  // n * p / n_parts would overflow for a large n.
  uint64_t bound(uint64_t n, uint32_t p) const {
    return n / n_parts * p + n % n_parts * p / n_parts;
  }
};

/// Look-ups that remember the first failure: look everything up, then ask failed() before using any
/// of it.
class OpArgs {
 public:
  explicit OpArgs(const OpCall& call) : call_(call) {}

  bool failed() const { return status_ != PLUMB_OK; }
  plumb_status status() const { return status_; }

  void require(bool holds, const char* message) {
    if (!holds && !failed()) status_ = fail(call_.error, PLUMB_INVALID_ARGUMENT, message);
  }

  /// The slice as T[dims...]; null only after a failure.
  template <typename T>
  T* elements(const char* name, plumb_slice slice, std::initializer_list<uint64_t> dims) {
    std::optional<uint64_t> bytes = sizeof(T);
    for (const uint64_t dim : dims) {
      if (bytes) bytes = checked_product(*bytes, dim);
    }
    std::byte* memory = bytes ? resolve(call_.state, slice, *bytes) : nullptr;
    if (!failed() && (memory == nullptr || *bytes == 0 || slice.offset_bytes % alignof(T) != 0)) {
      status_ = failf(call_.error, PLUMB_INVALID_ARGUMENT,
                      "%s: %llu bytes at offset %llu of buffer %llx; expected more than 0, "
                      "aligned, inside a live buffer",
                      name, static_cast<unsigned long long>(bytes.value_or(UINT64_MAX)),
                      static_cast<unsigned long long>(slice.offset_bytes),
                      static_cast<unsigned long long>(slice.buffer));
    }
    return reinterpret_cast<T*>(memory);
  }

  /// i32[n], none of them negative.
  const int32_t* positions(plumb_slice slice, uint64_t n) {
    const int32_t* values = elements<const int32_t>("positions", slice, {n});
    if (!failed())
      require(std::all_of(values, values + n, [](int32_t p) { return p >= 0; }),
              "positions: one is negative");
    return values;
  }

  /// A matrix prepared for `use`; its shape is compared where not 0.
  const Weight* matrix(const char* name, plumb_handle handle, uint32_t use, uint64_t n_rows,
                       uint64_t n_columns) {
    const Weight* weight = call_.state.weights.find(handle);
    if (failed()) return weight;
    if (weight == nullptr || (weight->uses & use) == 0) {
      status_ = failf(call_.error, PLUMB_INVALID_ARGUMENT,
                      "%s: handle %llx is not a weight prepared for this use", name,
                      static_cast<unsigned long long>(handle));
    } else if ((n_rows != 0 && weight->n_rows != n_rows) ||
               (n_columns != 0 && weight->n_columns != n_columns)) {
      status_ = failf(
          call_.error, PLUMB_INVALID_ARGUMENT, "%s: weight is [%llu,%llu]; the op says [%llu,%llu]",
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
    KvCache* found = call_.state.caches.find(handle);
    require(found != nullptr, "kv: not a live handle of a KV cache");
    return found;
  }

 private:
  const OpCall& call_;
  plumb_status status_ = PLUMB_OK;
};

}  // namespace plumbline::reference
