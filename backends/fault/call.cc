#include "call.h"

namespace plumbline::fault {
namespace {

constexpr uint64_t kPiece = 64;

Result<void> outcome(plumb_status status, const ErrorBuffer& error) {
  if (status != PLUMB_OK) return error.take(status);
  return {};
}

}  // namespace

Result<uint64_t> Call::take(uint64_t& taken, uint64_t n, uint64_t size) const {
  const std::optional<uint64_t> bytes = checked_product(n, size);
  const uint64_t left = worker_.bytes - taken;
  if (!bytes || *bytes > left)
    return Error{PLUMB_INVALID_ARGUMENT, "worker: scratch too small; plan this op first"};
  const uint64_t at = taken;
  taken += std::min(left, (*bytes + kPiece - 1) / kPiece * kPiece);
  return at;
}

Result<void> Call::run(const plumb_op& op) {
  ErrorBuffer error;
  return outcome(state_.inner->execute(state_.self, &op, 1, worker_.inner, 0, 1, error), error);
}

Result<void> Call::read_to(plumb_slice from, std::span<std::byte> to) {
  ErrorBuffer error;
  return outcome(state_.inner->read(state_.self, from, to.data(), to.size(), error), error);
}

Result<void> Call::write_from(plumb_slice to, std::span<const std::byte> from) {
  ErrorBuffer error;
  return outcome(state_.inner->write(state_.self, to, from.data(), from.size(), error), error);
}

Result<void> Call::kv_export(uint32_t first, uint32_t n, float* k, float* v, int32_t* positions) {
  ErrorBuffer error;
  return outcome(state_.inner->kv_export(state_.self, kv(), first, n, k, v, positions, error),
                 error);
}

Result<void> Call::kv_import(uint32_t first, uint32_t n, const float* k, const float* v) {
  ErrorBuffer error;
  return outcome(state_.inner->kv_import(state_.self, kv(), first, n, k, v, nullptr, error), error);
}

}  // namespace plumbline::fault
