// call.h: one op that a fault runs as a whole: memory, and the inner backend to do the rest.
#pragma once

#include <cstddef>
#include <span>

#include "plumb/sdk/blocks.h"
#include "state.h"

namespace plumbline::fault {

/// Scratch lasts as long as the call. Results fail as the inner backend does, and INVALID_ARGUMENT
/// where the op was not planned.
class Call {
 public:
  Call(const State& state, Worker& worker, const OpFacts& facts)
      : state_(state), worker_(worker), facts_(facts) {}

  const OpFacts& facts() const { return facts_; }
  const plumb_op& op() const { return facts_.op; }

  /// Scratch here, not initialised.
  template <typename T>
  Result<std::span<T>> room(uint64_t n) {
    PLUMB_ASSIGN(const uint64_t at, take(here_, n, sizeof(T)));
    return std::span(reinterpret_cast<T*>(worker_.here.data() + at), n);
  }
  /// Scratch in the inner backend's memory, for n values of 4 bytes.
  Result<plumb_slice> space(uint64_t n) {
    PLUMB_ASSIGN(const uint64_t at, take(there_, n, 4));
    return plumb_slice{worker_.there.buffer, worker_.there.offset_bytes + at};
  }

  template <typename T>
  Result<std::span<T>> read(plumb_slice from, uint64_t n) {
    PLUMB_ASSIGN(const std::span<T> values, room<T>(n));
    PLUMB_TRY(read_to(from, std::as_writable_bytes(values)));
    return values;
  }
  template <typename T>
  Result<void> write(plumb_slice to, std::span<T> values) {
    return write_from(to, std::as_bytes(values));
  }
  /// Private values for the inner backend to read.
  template <typename T>
  Result<plumb_slice> put(std::span<T> values) {
    PLUMB_ASSIGN(const plumb_slice slice, space(values.size()));
    PLUMB_TRY(write(slice, values));
    return slice;
  }

  /// The inner backend does the whole of an op.
  Result<void> run(const plumb_op& op);
  /// Rows of the op's cache; null pointers are skipped.
  Result<void> kv_export(uint32_t first, uint32_t n, float* k, float* v, int32_t* positions);
  Result<void> kv_import(uint32_t first, uint32_t n, const float* k, const float* v);

  Result<void> read_to(plumb_slice from, std::span<std::byte> to);
  Result<void> write_from(plumb_slice to, std::span<const std::byte> from);

 private:
  Result<uint64_t> take(uint64_t& taken, uint64_t n, uint64_t size) const;
  plumb_handle kv() const {
    return op().kind == PLUMB_OP_ATTEND ? op().as.attend.kv : op().as.kv_append.kv;
  }

  const State& state_;
  Worker& worker_;
  OpFacts facts_;
  uint64_t here_ = 0;
  uint64_t there_ = 0;
};

/// The slice n values of 4 bytes further on.
inline plumb_slice behind(plumb_slice slice, uint64_t n) {
  return {slice.buffer, slice.offset_bytes + 4 * n};
}

}  // namespace plumbline::fault
