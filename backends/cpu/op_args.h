// op_args.h: turns an op record into checked pointers, and names the first thing that is wrong with
// it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>

#include "plumb/sdk/abi.h"
#include "plumb/sdk/blocks.h"
#include "state.h"

namespace plumbline::cpu {

/// One op, of which part `part` of n_parts is to be done with the scratch of one worker.
struct OpCall {
  const State& state;
  const plumb_op& op;
  const Memory& scratch;
  uint32_t part, n_parts;
  plumb_error* error;

  uint64_t n_rows() const { return op.n_rows; }
  /// This part's share of n items.
  Range share(uint64_t n) const { return {bound(n, part), bound(n, part + 1)}; }

 private:
  // n * p / n_parts without overflow.
  uint64_t bound(uint64_t n, uint32_t p) const {
    return n / n_parts * p + n % n_parts * p / n_parts;
  }
};

/// A matrix as an op may use it.
struct Matrix {
  const Layout* layout = nullptr;
  const uint8_t* data = nullptr;
  uint64_t n_rows = 0, n_columns = 0;
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
    std::optional<uint64_t> n = sizeof(T);
    for (const uint64_t dim : dims) {
      if (n) n = checked_product(*n, dim);
    }
    return reinterpret_cast<T*>(bytes(name, slice, n, alignof(T)));
  }

  /// The slice as n bytes; nothing stands for more than 64 bits can say.
  uint8_t* bytes(const char* name, plumb_slice slice, std::optional<uint64_t> n,
                 uint64_t alignment) {
    uint8_t* memory = n ? resolve(call_.state, slice, *n) : nullptr;
    if (!failed() && (memory == nullptr || *n == 0 || slice.offset_bytes % alignment != 0)) {
      status_ = failf(call_.error, PLUMB_INVALID_ARGUMENT,
                      "%s: %llu bytes at offset %llu of buffer %llx; expected more than 0, "
                      "aligned, inside a live buffer",
                      name, static_cast<unsigned long long>(n.value_or(UINT64_MAX)),
                      static_cast<unsigned long long>(slice.offset_bytes),
                      static_cast<unsigned long long>(slice.buffer));
    }
    return failed() ? nullptr : memory;
  }

  /// A matrix prepared for `use`; its shape is compared where not 0.
  Matrix matrix(plumb_handle handle, uint32_t use, uint64_t n_rows, uint64_t n_columns) {
    const Weight* weight = find("weight", handle, use);
    if (weight == nullptr) return {};
    if ((n_rows != 0 && weight->n_rows != n_rows) ||
        (n_columns != 0 && weight->n_columns != n_columns)) {
      status_ = failf(
          call_.error, PLUMB_INVALID_ARGUMENT, "weight: it is [%llu,%llu]; the op says [%llu,%llu]",
          static_cast<unsigned long long>(weight->n_rows),
          static_cast<unsigned long long>(weight->n_columns),
          static_cast<unsigned long long>(n_rows), static_cast<unsigned long long>(n_columns));
      return {};
    }
    return {weight->layout, resolve(call_.state, weight->place, weight->bytes), weight->n_rows,
            weight->n_columns};
  }

  /// A vector f32[n], or null for handle 0.
  const float* vector(const char* name, plumb_handle handle, uint64_t n) {
    if (handle == 0) return nullptr;
    const Weight* weight = find(name, handle, PLUMB_USE_VECTOR);
    if (weight == nullptr) return nullptr;
    if (weight->n_columns != n) {
      status_ = failf(
          call_.error, PLUMB_INVALID_ARGUMENT, "%s: it has %llu values; the op says %llu", name,
          static_cast<unsigned long long>(weight->n_columns), static_cast<unsigned long long>(n));
      return nullptr;
    }
    return reinterpret_cast<const float*>(resolve(call_.state, weight->place, weight->bytes));
  }

  KvCache* cache(plumb_handle handle) {
    KvCache* found = call_.state.caches.find(handle);
    require(found != nullptr, "kv: not a live handle of a KV cache");
    return found;
  }

  /// i32[T] with every element in [0, limit).
  const int32_t* numbers(const char* name, plumb_slice slice, uint64_t limit) {
    const int32_t* values = elements<const int32_t>(name, slice, {call_.n_rows()});
    for (uint64_t t = 0; values != nullptr && t < call_.n_rows(); ++t) {
      if (values[t] >= 0 && static_cast<uint64_t>(values[t]) < limit) continue;
      status_ = failf(call_.error, PLUMB_INVALID_ARGUMENT, "%s: %d at row %llu; expected 0 to %llu",
                      name, values[t], static_cast<unsigned long long>(t),
                      static_cast<unsigned long long>(limit - 1));
      return nullptr;
    }
    return values;
  }

 private:
  /// A live weight for this use whose memory is live too.
  const Weight* find(const char* name, plumb_handle handle, uint32_t use) {
    const Weight* weight = call_.state.weights.find(handle);
    if (failed()) return nullptr;
    if (weight == nullptr || (weight->uses & use) == 0 ||
        resolve(call_.state, weight->place, weight->bytes) == nullptr) {
      status_ = failf(call_.error, PLUMB_INVALID_ARGUMENT,
                      "%s: handle %llx is not a live weight prepared for this use", name,
                      static_cast<unsigned long long>(handle));
      return nullptr;
    }
    return weight;
  }

  const OpCall& call_;
  plumb_status status_ = PLUMB_OK;
};

}  // namespace plumbline::cpu
