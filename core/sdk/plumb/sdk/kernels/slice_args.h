// slice_args.h: turns the slices of an op record into checked pointers, and names the first thing
// that is wrong; for authors of kernels plugins.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>

#include "plumb/ext/kernels.h"
#include "plumb/sdk/abi.h"
#include "plumb/sdk/blocks.h"

namespace plumbline {

/// Look-ups that remember the first failure: look everything up, then ask failed() before using any
/// of it. State: what an instance owns; resolve(state, slice, bytes), found beside it, gives the
/// slice as memory, or null if it is not inside a live buffer.
template <typename State>
class SliceArgs {
 public:
  SliceArgs(const State& state, const plumb_op& op, plumb_error* error)
      : state_(state), op_(op), error_(error) {}

  bool failed() const { return status_ != PLUMB_OK; }
  plumb_status status() const { return status_; }

  void require(bool holds, const char* message) {
    if (!holds && !failed()) status_ = fail(error_, PLUMB_INVALID_ARGUMENT, message);
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
    auto* memory = n ? reinterpret_cast<uint8_t*>(resolve(state_, slice, *n)) : nullptr;
    // The address: a buffer over a file may itself start at any byte.
    const bool is_aligned = reinterpret_cast<uintptr_t>(memory) % alignment == 0;
    if (!failed() && (memory == nullptr || *n == 0 || !is_aligned)) {
      status_ = failf(error_, PLUMB_INVALID_ARGUMENT,
                      "%s: %llu bytes at offset %llu of buffer %llx; expected more than 0, "
                      "aligned, inside a live buffer",
                      name, static_cast<unsigned long long>(n.value_or(UINT64_MAX)),
                      static_cast<unsigned long long>(slice.offset_bytes),
                      static_cast<unsigned long long>(slice.buffer));
    }
    return failed() ? nullptr : memory;
  }

  /// i32[T] with every element in [0, limit).
  const int32_t* numbers(const char* name, plumb_slice slice, uint64_t limit) {
    const int32_t* values = elements<const int32_t>(name, slice, {op_.n_rows});
    for (uint64_t t = 0; values != nullptr && t < op_.n_rows; ++t) {
      if (values[t] >= 0 && static_cast<uint64_t>(values[t]) < limit) continue;
      status_ = failf(error_, PLUMB_INVALID_ARGUMENT, "%s: %d at row %llu; expected 0 to %llu",
                      name, values[t], static_cast<unsigned long long>(t),
                      static_cast<unsigned long long>(limit - 1));
      return nullptr;
    }
    return values;
  }

  /// Indices that are looked at before they are used, by every part at its own time: what the op
  /// writes may not lie over them.
  void require_apart(const int32_t* indices, const float* out, uint64_t n_out,
                     const char* message) {
    const auto from = reinterpret_cast<uintptr_t>(indices);
    const auto to = reinterpret_cast<uintptr_t>(out);
    require(from + op_.n_rows * sizeof *indices <= to || to + n_out * sizeof *out <= from, message);
  }

 protected:
  const State& state_;
  const plumb_op& op_;
  plumb_error* error_;
  plumb_status status_ = PLUMB_OK;
};

}  // namespace plumbline
