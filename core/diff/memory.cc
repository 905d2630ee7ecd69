#include "core/diff/memory.h"

#include <limits>
#include <string>

#include "core/base/os/memory.h"
#include "plumb/ext/kernels.h"

namespace plumbline::diff {

uint64_t recording_bytes(const model::Decoder& decoder, uint64_t n_ids, uint64_t n_head_rows) {
  uint64_t in_body = 0, in_head = 0;  // values of a row of all ops
  for (const model::OpInfo* op : decoder.ops()) {
    if (op->kind == PLUMB_OP_QUANTIZE) continue;
    (decoder.is_in_head(*op) ? in_head : in_body) += decoder.output_width(*op);
  }
  uint64_t values = 0, of_head = 0, bytes = 0;
  const bool is_too_large = __builtin_mul_overflow(in_body, n_ids, &values) ||
                            __builtin_mul_overflow(in_head, n_head_rows, &of_head) ||
                            __builtin_add_overflow(values, of_head, &values) ||
                            __builtin_mul_overflow(values, sizeof(float), &bytes);
  return is_too_large ? std::numeric_limits<uint64_t>::max() : bytes;
}

uint64_t default_bytes_max() {
  return os::physical_memory_bytes() / 2;
}

Result<void> check_memory(uint64_t bytes, uint64_t n_ids, uint64_t bytes_max) {
  if (bytes <= bytes_max) return {};
  return Error{PLUMB_INVALID_ARGUMENT,
               "a recording of " + std::to_string(n_ids) + " ids takes " + std::to_string(bytes) +
                   " bytes, more than the " + std::to_string(bytes_max) +
                   " that are allowed: give a shorter prompt, fewer tokens, or no --all-rows"};
}

}  // namespace plumbline::diff
