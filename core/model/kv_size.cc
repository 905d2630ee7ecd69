#include "core/model/kv_size.h"

#include <optional>
#include <string>

#include "plumb/sdk/blocks.h"

namespace plumbline::model {
namespace {

std::optional<uint64_t> row_bytes(const HyperParameters& hp, plumb_format format,
                                  bool keeps_unrotated) {
  const uint64_t element = format == PLUMB_F32 ? 4 : 2;
  const uint64_t of_a_value = 2 * element + (keeps_unrotated ? sizeof(float) : 0);
  const auto values = checked_product(uint64_t{hp.n_heads_kv} * hp.head_width, hp.n_layers);
  return values ? checked_product(*values, of_a_value) : values;
}

}  // namespace

Result<uint64_t> kv_bytes(const HyperParameters& hp, uint64_t rows, plumb_format format,
                          bool keeps_unrotated) {
  const auto of_a_row = row_bytes(hp, format, keeps_unrotated);
  const auto bytes = of_a_row ? checked_product(*of_a_row, rows) : of_a_row;
  if (bytes) return *bytes;
  return Error{PLUMB_INVALID_ARGUMENT,
               "KV caches of " + std::to_string(rows) + " rows: their bytes are no 64-bit number"};
}

Result<void> check_kv_budget(const HyperParameters& hp, uint64_t rows, plumb_format format,
                             bool keeps_unrotated, uint64_t budget_bytes) {
  const auto bytes = kv_bytes(hp, rows, format, keeps_unrotated);
  if (bytes && *bytes <= budget_bytes) return {};
  const uint64_t of_a_row = row_bytes(hp, format, keeps_unrotated).value_or(UINT64_MAX);
  return Error{PLUMB_INVALID_ARGUMENT, "KV caches of " + std::to_string(rows) + " rows need " +
                                           (bytes ? std::to_string(*bytes) : "more than 2^64") +
                                           " bytes, " + std::to_string(of_a_row) +
                                           " for each, but the budget is " +
                                           std::to_string(budget_bytes) + ": expected at most " +
                                           std::to_string(budget_bytes / of_a_row) + " rows"};
}

}  // namespace plumbline::model
